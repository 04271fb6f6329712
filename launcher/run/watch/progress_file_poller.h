// Looks at --progress-file once a second, for goodput: whether it was written, and whether it holds the number of a
// step.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/os/side_thread.h"
#include "launcher/run/watch/progress_file.h"

namespace sml::run {

// Lives on the loop's thread; the file is looked at by a side thread, as its file system may stand still.
class ProgressFilePoller {
 public:
  static constexpr Duration kInterval = std::chrono::seconds(1);

  // `written` is called for each look that finds the file changed, with the number that it begins with: one that takes
  // the whole first line.
  using Written = std::function<void(std::optional<std::uint64_t> step)>;
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

// The number on the first line of a text, which may have blanks around it; nullopt: it holds something else.
std::optional<std::uint64_t> step_in(std::string_view text);

}  // namespace sml::run
