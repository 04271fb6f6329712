// The terminal of sml-run top, by ncurses.
#pragma once
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/core/error.h"
#include "launcher/top/screen.h"

namespace sml::top {

// Takes over the terminal of standard input and output while it lives; its end restores the terminal's settings, also
// after Ctrl-Z and fg. Only one may exist at a time; single-threaded.
class Terminal {
 public:
  // Error (Usage): standard input or output is no terminal, or its kind (TERM) is not known.
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
  // The next key that was typed, and its letter for Key::Other; nullopt: none so far. Does not wait.
  std::optional<std::pair<Key, char>> key();
  void follow_size();  // call after SIGWINCH: takes over the terminal's new size
  // For Ctrl-Z: restores the terminal, stops this process, and once it is continued takes over the terminal again.
  void suspend();

 private:
  Terminal() = default;
  bool is_open_ = true;
};

}  // namespace sml::top
