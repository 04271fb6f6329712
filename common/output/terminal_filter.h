// What a worker prints, made safe for a terminal: nothing of it moves the cursor off its line, changes the terminal or
// makes it answer. Pure; one for each worker and stream.
//
// Rules. Text, tab and newline pass, and so does \r, which the lines' merger takes for an end of line. Colours (SGR:
// ESC [ digits m) pass, but are off at the end of each line and on again in the next, so that a worker colours its own
// lines only. Every other control character, and every byte that is no UTF-8, becomes \xNN, which leaves the rest of
// an escape sequence as harmless text.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace sml::output {

class TerminalFilter {
 public:
  static constexpr std::string_view kReset = "\x1b[0m";

  // Appends what may be shown of `bytes` to `out`. What cannot be told yet, a character or colour that has only begun,
  // is kept for the next call.
  void add(std::string_view bytes, std::string& out);
  // Nothing more comes: what was kept is shown as it is.
  void finish(std::string& out);

 private:
  enum class More : bool { Comes, No };
  std::size_t take(std::string_view text, More more, std::string& out);
  std::size_t take_sequence(std::string_view text, More more, std::string& out);
  std::size_t take_character(std::string_view text, More more, std::string& out);
  void pass(std::string_view text, std::string& out);
  void end_line(char end, std::string& out);
  void set_colour(std::string_view sequence, std::string& out);

  std::string kept_;      // of a character or sequence that has only begun; a few bytes
  std::string colour_;    // the sequences since the last that turned colours off
  bool resumes_ = false;  // colour_ is on again when the next text of this line comes
};

}  // namespace sml::output
