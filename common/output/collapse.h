// Progress bars in files: of the states that one stream of one worker ends with \r, only the last of each second is
// passed on. Pure; one for each worker and stream.
//
// Rules. A state waits for at most kPeriod, and is dropped when a later state or line of the same stream overwrites it,
// as a terminal would show it. Lines that end with \n or \r\n pass at once, and so does the text of a line that is
// longer than kMaxText. Nothing else is changed.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/clock.h"

namespace sml::output {

class Collapse {
 public:
  static constexpr Duration kPeriod = std::chrono::seconds(1);
  static constexpr std::size_t kMaxText = std::size_t{64} << 10;

  // Appends what may be passed on to `out`.
  void add(std::string_view bytes, TimePoint now, std::string& out);
  // deadline() has come.
  void on_time(TimePoint now, std::string& out);
  // The line that has begun goes on as it is.
  void let_go(std::string& out);
  // Nothing more comes.
  void finish(std::string& out);
  std::optional<TimePoint> deadline() const { return state_.empty() ? std::nullopt : due_; }

 private:
  void end_text(char end, TimePoint now, std::string& out);
  void keep(std::string_view rest, std::string& out);

  std::string text_;              // of a line that has not ended
  bool passing_ = false;          // the beginning of that line has been passed on
  std::string state_;             // the last one with its \r, not passed on; what follows it has not ended
  std::optional<TimePoint> due_;  // when a state is passed on; nothing: none has come since
};

}  // namespace sml::output
