#include "launcher/run/watch/file_work.h"

#include <memory>

#include <boost/asio/executor_work_guard.hpp>

namespace sml::run {

void FileWork::begin(std::string option, std::function<void()> work, std::function<void()> then) {
  const auto task = tasks_.emplace(tasks_.end(), std::move(option), loop_.get_executor());
  task->thread.post(std::move(work), [this, task, then = std::move(then)] {
    tasks_.erase(task);
    then();
  });
}

void FileWork::write(const std::string& option, std::function<Result<void>()> work) {
  const auto outcome = std::make_shared<Result<void>>();
  begin(
      option, [outcome, work = std::move(work)] { *outcome = work(); },
      [this, option, outcome] {
        if (!*outcome) printer_.print(option + ": " + outcome->error().message());
      });
}

void FileWork::finish() {
  if (tasks_.empty()) return;
  const auto guard = boost::asio::make_work_guard(loop_);  // a thread at work does not keep a loop running
  const TimePoint end = Clock::now() + kEndTimeout;
  loop_.restart();
  while (!tasks_.empty() && loop_.run_one_until(end) > 0) continue;
  for (const Task& task : tasks_) {
    printer_.print(task.option + ": its file system has not taken the file; the job ends without it");
  }
  tasks_.clear();
}

}  // namespace sml::run
