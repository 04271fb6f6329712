// Makes the output of a worker safe for a terminal: the output cannot move the cursor off its line, change the state of
// the terminal, or make the terminal send an answer. Pure; one instance for each worker and stream.
//
// Text, tab and newline pass, and so does \r, which LineMerger treats as an end of line. Colours (SGR: ESC [ digits m)
// pass, but are reset at the end of each line and restored in the next, so that a worker colours only its own lines.
// Every other control character, and every byte that is not UTF-8, becomes \xNN, which turns the rest of an escape
// sequence into harmless text.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace sml::output {

class TerminalFilter {
 public:
  static constexpr std::string_view kReset = "\x1b[0m";

  // Appends the displayable form of `bytes` to `out`. An incomplete character or colour sequence at the end is kept for
  // the next call.
  void add(std::string_view bytes, std::string& out);
  // Ends the stream: an incomplete sequence that was kept is shown as it is.
  void finish(std::string& out);

 private:
  enum class More : bool { Comes, No };
  std::size_t take(std::string_view text, More more, std::string& out);
  std::size_t take_sequence(std::string_view text, More more, std::string& out);
  std::size_t take_character(std::string_view text, More more, std::string& out);
  void pass(std::string_view text, std::string& out);
  void end_line(char end, std::string& out);
  void set_colour(std::string_view sequence, std::string& out);

  std::string kept_;      // an incomplete character or sequence; a few bytes
  std::string colour_;    // the sequences since the last reset
  bool resumes_ = false;  // colour_ must be restored before the next text of this line
};

}  // namespace sml::output
