// One line that stands below all output on a terminal and is never in its way: taken off before output is written, put
// back after. Pure: answers what to write. The cursor stays at the line's beginning, so that a terminal that is made
// narrower and wraps the line does not matter.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace sml::output {

// What the output ends with. Behind text nothing can be drawn that leaves the cursor where it was.
enum class OutputEnd : std::uint8_t { Line, Return, Text };

class BottomLine {
 public:
  // Appends what takes the line off.
  void erase(std::string& out);
  // Appends what puts `text` in the place of the line, or takes it off where none may be. `text` fits in one line of
  // the terminal, one column less at best.
  void draw(std::string_view text, OutputEnd end, std::string& out);
  // Somebody else has the terminal, and nothing of ours is to be taken off it.
  void forget() { place_ = Place::Nowhere; }
  // Somebody else had it: the line that the cursor is in may be ours, but not the one above.
  void cursor_moved() {
    if (place_ == Place::Below) place_ = Place::Here;
  }
  bool drawn() const { return place_ != Place::Nowhere; }

 private:
  enum class Place : std::uint8_t { Nowhere, Here, Below };
  Place place_ = Place::Nowhere;
};

}  // namespace sml::output
