// A task that a host must finish before its agent may start, such as an installation of packages. It runs on a thread
// of its own, so that the loop handles all other events meanwhile.
#pragma once
#include <functional>
#include <memory>
#include <thread>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/error.h"

namespace sml::transport {

class PreLaunchTask {
 public:
  virtual ~PreLaunchTask() = default;
  // Blocks until the task is finished. Called once. Error: the agent must not start.
  virtual Result<void> run() = 0;
  // Callable from another thread at any time: makes run() end all that it started, and return soon.
  virtual void cancel() = 0;
};

// Runs a PreLaunchTask on a thread. The destructor cancels the task, and waits until run() has returned.
class BackgroundTask {
 public:
  // `task` outlives this. `done` is called once, on the loop thread; never after this is destroyed.
  BackgroundTask(const boost::asio::any_io_executor& loop, PreLaunchTask& task, std::function<void(Result<void>)> done);
  ~BackgroundTask();
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;

 private:
  PreLaunchTask& task_;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  // false: this is destroyed, and the result is dropped
  std::thread thread_;
};

}  // namespace sml::transport
