// Waits for a helper process of the launcher to end, without blocking.
#pragma once
#include <functional>
#include <memory>

#include <sys/types.h>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/exit_status.h"

namespace sml::os {

// One child that spawn_helper() started. Used by one thread, that of the executor. If the Child is destroyed before the
// process has ended, the destructor ends the process (SIGTERM; then, after two seconds at most, SIGKILL to its process
// group) and reaps it; it blocks meanwhile.
class Child {
 public:
  // `ended` is called once, on the executor, unless the Child is destroyed before.
  Child(boost::asio::any_io_executor executor, pid_t pid, std::function<void(ExitStatus)> ended);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace sml::os
