// A thread for work that may block for as long as a file system, a terminal or another process takes, so that the loop
// goes on.
#pragma once
#include <functional>
#include <memory>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/clock.h"

namespace sml::os {

// The thread starts with the first work; if the system refuses a thread, post() does the work itself before it returns.
// Used by one thread, that of the loop.
class SideThread {
 public:
  explicit SideThread(boost::asio::any_io_executor loop);
  // Posted work is still done, unless the process ends first; the destructor does not wait for it.
  ~SideThread();
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;

  // Starts the thread if it does not run yet; returns false if the system refuses it. For callers whose work must not
  // run on the loop's thread.
  bool start();
  // `work` runs on the thread, after all work posted before. The caller must not touch data that it shares with `work`
  // until `then` runs: on the loop, after this call has returned, and not at all if this object has been destroyed.
  void post(std::function<void()> work, std::function<void()> then);
  // Blocks until all work is done, for at most `limit`; Duration::max(): without a limit. Returns whether all is done;
  // the `then` of that work still runs later, on the loop.
  bool finish(Duration limit);

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared);
  std::shared_ptr<Shared> shared_;
  bool started_ = false;
  std::shared_ptr<const char> alive_ = std::make_shared<const char>('\0');  // used by the loop's thread
};

}  // namespace sml::os
