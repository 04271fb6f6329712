// A thread for what may block for as long as a file system, a terminal or another process pleases, so that the loop
// goes on.
#pragma once
#include <functional>
#include <memory>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/clock.h"

namespace sml::os {

// Made with the first work; where the system gives none, work is done at once, by the caller. Used by one thread, that
// of the loop.
class SideThread {
 public:
  explicit SideThread(boost::asio::any_io_executor loop);
  // Posted work is still done; the destructor does not wait for it.
  ~SideThread();
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;

  // Whether there is one, for work that must not be done by the caller.
  bool start();
  // `work` runs on the thread, after all that was posted before, and shares nothing with the caller but what it is the
  // only one to touch until `then`. `then` runs on the loop, unless this has gone.
  void post(std::function<void()> work, std::function<void()> then);
  // Whether all of it has been done, for which it waits so long at most; Duration::max(): as long as it takes.
  bool finish(Duration limit);

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared);
  std::shared_ptr<Shared> shared_;
  bool started_ = false;
  std::shared_ptr<const char> alive_ = std::make_shared<const char>('\0');  // the loop's
};

}  // namespace sml::os
