// Keeps the end of a rank's output on a stream, for a reader that connects while it runs. Pure; bounded.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sml::report {

// The last `count` lines of `text`, or all of it if it has fewer. Text after the last newline counts as a line.
inline std::string_view last_lines(std::string_view text, std::uint32_t count) {
  std::size_t at = text.size();
  if (text.ends_with('\n')) --at;
  for (; count > 0 && at > 0; --count) {
    const std::size_t end = text.rfind('\n', at - 1);
    if (end == std::string_view::npos) return text;
    at = end;
  }
  return count > 0 ? text : text.substr(std::min(at + 1, text.size()));
}

class OutputTail {
 public:
  static constexpr std::size_t kBytes = 4096;  // the most that text() returns; up to twice as many are kept

  void add(std::string_view bytes) {
    if (bytes.size() >= kBytes) {
      is_cut_ = is_cut_ || !text_.empty() || bytes.size() > kBytes;
      text_.assign(bytes.substr(bytes.size() - kBytes));
      return;
    }
    text_ += bytes;
    if (text_.size() <= 2 * kBytes) return;
    is_cut_ = true;
    text_.erase(0, text_.size() - kBytes);
  }

  // The last output, of at most kBytes. Starts at the beginning of a line, unless one line fills all of it. Valid until
  // the next add(), whose bytes continue it.
  std::string_view text() const {
    std::string_view out = text_;
    const bool cut = is_cut_ || out.size() > kBytes;
    if (out.size() > kBytes) out.remove_prefix(out.size() - kBytes);
    const std::size_t line_end = out.find('\n');
    if (cut && line_end != std::string_view::npos) out.remove_prefix(line_end + 1);
    return out;
  }

 private:
  std::string text_;
  bool is_cut_ = false;  // bytes before `text_` have been dropped
};

}  // namespace sml::report
