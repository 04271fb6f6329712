// Thins out progress bars: of the states that a stream ends with \r, only the last one of each second is passed on.
// Pure; one instance for each worker and stream.
//
// A state waits for at most kPeriod, and is dropped if a later state or line of the same stream overwrites it, as a
// terminal would show it. Lines that end with \n or \r\n pass at once, and so does the text of a line that is longer
// than kMaxText. All other text stays unchanged.
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

  // Appends the bytes that may be passed on to `out`.
  void add(std::string_view bytes, TimePoint now, std::string& out);
  // Must be called when deadline() has passed.
  void on_time(TimePoint now, std::string& out);
  // Passes on the unfinished text of the current line, and from then on the rest of that line unchanged. For prompts.
  void let_go(std::string& out);
  // Passes on what is left; the stream has ended.
  void finish(std::string& out);
  // The time at which on_time() must be called; nullopt: no state is waiting.
  std::optional<TimePoint> deadline() const { return state_.empty() ? std::nullopt : due_; }

 private:
  void end_text(char end, TimePoint now, std::string& out);
  void keep(std::string_view rest, std::string& out);

  std::string text_;              // of the current line, which has not ended
  bool passing_ = false;          // the beginning of the current line has been passed on
  std::string state_;             // the last state with its \r, not passed on yet; the text after it has not ended
  std::optional<TimePoint> due_;  // when a state is passed on; nullopt: no state has come since the last time
};

}  // namespace sml::output
