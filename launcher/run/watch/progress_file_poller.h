// Reads --progress-file: every 2 seconds for goodput, with the step that it holds, and at the end of each attempt.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/os/side_thread.h"
#include "launcher/report/live/line_pattern.h"
#include "launcher/run/watch/progress_file.h"

namespace sml::run {

// Used on the loop's thread. A side thread reads the file, as its file system may hang.
class ProgressFilePoller {
 public:
  static constexpr Duration kInterval = std::chrono::seconds(2);
  static constexpr Duration kTimeout = std::chrono::seconds(10);  // of a question, with the file system

  // `written` is called, on the loop's thread, each time the file has changed, with the step on its first line; without
  // a step if that line holds none.
  using Written = std::function<void(const report::StepNumbers& step)>;
  ProgressFilePoller(const boost::asio::any_io_executor& loop, std::string path, Written written);

  // To be called once, before the job begins: takes the file as it is for not written. Blocks while the file system
  // does. Does nothing without a file.
  void begin();
  // nullopt: there is no file, or its file system has not answered within kTimeout.
  using Answer = std::function<void(std::optional<bool> was_written)>;
  // Asks whether the file has been written since begin(), or since the last question. `answer` is called once, from
  // within this call without a file, else from the loop. One question at a time.
  void ask(Answer answer);

 private:
  void arm();
  void look(std::function<void()> then);
  void reply(std::optional<bool> was_written);

  std::string path_;
  Written written_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<ProgressFile> file_;  // used by the side thread, once the job has begun
  bool was_written_ = false;            // since the last question
  std::uint64_t questions_ = 0;
  Answer answer_;  // to the last question; null: it has been answered
  boost::asio::steady_timer timeout_;
  os::SideThread thread_;
};

// The step on the first line of a text: STEP or STEP/TOTAL, perhaps with blanks around the numbers. The result has no
// step if the line holds something else.
report::StepNumbers step_in(std::string_view text);

}  // namespace sml::run
