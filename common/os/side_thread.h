// A thread for work that may block for as long as a file system, a terminal or another process takes, so that the loop
// goes on.
#pragma once
#include <functional>
#include <memory>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/clock.h"

namespace sml::os {

// The thread starts with the first work; if the system gives none, the caller does the work at once. Used by one
// thread, that of the loop.
class SideThread {
 public:
  explicit SideThread(boost::asio::any_io_executor loop);
  // Posted work is still done; the destructor does not wait for it.
  ~SideThread();
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;

  // Returns whether the thread exists, for work that the caller must not do itself; starts it if needed.
  bool start();
  // `work` runs on the thread, after all work posted before; data that it shares with the caller must not be touched by
  // the caller until `then`. `then` runs on the loop, unless this object has gone.
  void post(std::function<void()> work, std::function<void()> then);
  // Blocks until all work is done, for at most `limit`; Duration::max(): without a limit. Returns whether all is done.
  bool finish(Duration limit);

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared);
  std::shared_ptr<Shared> shared_;
  bool started_ = false;
  std::shared_ptr<const char> alive_ = std::make_shared<const char>('\0');  // used by the loop's thread
};

}  // namespace sml::os
