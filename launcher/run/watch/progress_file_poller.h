// Looks at --progress-file every 2 seconds, for goodput: whether it was written, and which step it tells.
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

// Lives on the loop's thread; the file is looked at by a side thread, as its file system may stand still.
class ProgressFilePoller {
 public:
  static constexpr Duration kInterval = std::chrono::seconds(2);

  // `written` is called for each look that finds the file changed, with the step that its first line tells.
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

// The step on the first line of a text: STEP or STEP/TOTAL, perhaps with blanks around the numbers. No step: the line
// holds something else.
report::StepNumbers step_in(std::string_view text);

}  // namespace sml::run
