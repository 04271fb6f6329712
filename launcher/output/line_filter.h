// Selects the lines of one stream that contain at least one of several words. Pure.
//
// A line ends with \n, with \r (a state of a progress bar) or with \r\n, and is passed on with \n. A line of more than
// kMaxText bytes is judged by its first kMaxText ones.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sml::output {

class LineFilter {
 public:
  static constexpr std::size_t kMaxText = std::size_t{64} << 10;

  // Appends the lines that contain one of `words` to `out`. `words` are the same in every call.
  void add(std::span<const std::string> words, std::string_view bytes, std::string& out);
  // The stream has ended: judges a last line that has no end.
  void finish(std::span<const std::string> words, std::string& out);

 private:
  void add_text(std::span<const std::string> words, std::string_view text, std::string& out);
  void decide(std::span<const std::string> words, std::string& out);

  std::string text_;            // the current line, as long as it is not judged
  std::optional<bool> passes_;  // whether the current line is passed on; nullopt: not decided yet
  bool after_return_ = false;   // the last byte was a \r: a \n belongs to the same end
};

}  // namespace sml::output
