// Reads --progress-file every 2 seconds, for goodput: whether it was written, and which step it holds.
#pragma once
#include <functional>
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

  // `written` is called, on the loop's thread, each time the file has changed, with the step on its first line; without
  // a step if that line holds none.
  using Written = std::function<void(const report::StepNumbers& step)>;
  ProgressFilePoller(const boost::asio::any_io_executor& loop, std::string path, Written written);

  // Does nothing without a file.
  void begin();
  void end() { timer_.cancel(); }

 private:
  void arm();
  void look();

  std::string path_;
  Written written_;
  boost::asio::steady_timer timer_;
  ProgressFile file_;
  os::SideThread thread_;
};

// The step on the first line of a text: STEP or STEP/TOTAL, perhaps with blanks around the numbers. The result has no
// step if the line holds something else.
report::StepNumbers step_in(std::string_view text);

}  // namespace sml::run
