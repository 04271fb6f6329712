// One line that stays below all output on a terminal: it is erased before output is written and drawn again after it.
// Pure: returns what to write. The cursor stays at the beginning of the line, so that the line may wrap when the
// terminal becomes narrower.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace sml::output {

// How the output so far ends: with \n, with \r, or with text. After text, no line can be drawn that leaves the cursor
// where it was.
enum class OutputEnd : std::uint8_t { Line, Return, Text };

class BottomLine {
 public:
  // Appends the sequence that erases the line.
  void erase(std::string& out);
  // Appends the sequence that draws `text` as the line, or only erases it if no line may follow this kind of end.
  // `text` must fit in one line of the terminal, ideally with one column to spare.
  void draw(std::string_view text, OutputEnd end, std::string& out);
  // Another program uses the terminal now: later calls must not erase its output.
  void forget() { place_ = Place::Nowhere; }
  // Another program used the terminal: the line of the cursor may still be this one, but not the line above it.
  void cursor_moved() {
    if (place_ == Place::Below) place_ = Place::Here;
  }
  // Whether the line is on the terminal.
  bool drawn() const { return place_ != Place::Nowhere; }

 private:
  // Where the line is. Below: one line below output that ended with \r.
  enum class Place : std::uint8_t { Nowhere, Here, Below };
  Place place_ = Place::Nowhere;
};

}  // namespace sml::output
