// The terminal of sml-run top, by ncurses.
#pragma once
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/core/error.h"
#include "launcher/top/screen.h"

namespace sml::top {

// Standard input and output are the terminal for as long as this lives; its end leaves it as it was, also after
// Ctrl-Z and fg. One at a time; single-threaded.
class Terminal {
 public:
  // Error (Usage): they are no terminal, or its kind is not known.
  static Result<Terminal> open();
  ~Terminal();
  Terminal(Terminal&& other) noexcept : is_open_(std::exchange(other.is_open_, false)) {}
  Terminal& operator=(Terminal&&) = delete;

  struct Size {
    std::size_t columns;
    std::size_t lines;
  };
  Size size() const;
  void draw(const std::vector<Line>& lines);
  // The next key that has been typed; nullopt: none.
  std::optional<std::pair<Key, char>> key();
  void follow_size();  // to be called when the terminal has another one
  // Ctrl-Z: gives the terminal back, stops this process, and takes the terminal again.
  void suspend();

 private:
  Terminal() = default;
  bool is_open_ = true;
};

}  // namespace sml::top
