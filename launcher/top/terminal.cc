#include "launcher/top/terminal.h"

#define NCURSES_NOMACROS  // they would replace names such as move and erase
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>

#include <sys/ioctl.h>
#include <unistd.h>

#include <ncurses.h>

#include "common/core/text.h"

namespace sml::top {

namespace {

constexpr short kBad = 1;  // a pair of colours

attr_t attributes_of(Style style) {
  const bool coloured = ::has_colors();
  switch (style) {
    case Style::Plain: return A_NORMAL;
    case Style::Title: return A_BOLD;
    case Style::Selected: return A_REVERSE;
    case Style::Bad: return coloured ? static_cast<attr_t>(COLOR_PAIR(kBad)) | A_BOLD : A_BOLD | A_UNDERLINE;
    case Style::Faint: return A_DIM;
  }
  return A_NORMAL;
}

void take_terminal() {
  ::cbreak();
  ::noecho();
  ::nonl();
  ::keypad(stdscr, TRUE);
  ::nodelay(stdscr, TRUE);
  ::curs_set(0);
}

}  // namespace

Result<Terminal> Terminal::open() {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) {
    return Error(ErrorKind::Usage, "standard input and output are no terminal")
        .with_hint("sml-run status prints the same once");
  }
  const char* const kind = std::getenv("TERM");
  ::set_escdelay(25);  // ms, until a lone escape is one
  if (::newterm(nullptr, stdout, stdin) == nullptr) {
    return Error(ErrorKind::Usage, "this kind of terminal is not known: TERM=" + show(kind == nullptr ? "" : kind, 60))
        .with_hint("TERM=xterm or TERM=vt100 may fit; sml-run status needs none");
  }
  take_terminal();
  if (::has_colors()) {
    ::start_color();
    ::use_default_colors();
    ::init_pair(kBad, COLOR_RED, -1);
  }
  return Terminal();
}

Terminal::~Terminal() {
  if (is_open_) ::endwin();
}

Terminal::Size Terminal::size() const {
  return {static_cast<std::size_t>(std::max(0, getmaxx(stdscr))),
          static_cast<std::size_t>(std::max(0, getmaxy(stdscr)))};
}

void Terminal::draw(const std::vector<Line>& lines) {
  ::werase(stdscr);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ::wattrset(stdscr, static_cast<int>(attributes_of(lines[i].style)));
    ::wmove(stdscr, static_cast<int>(i), 0);
    ::waddnstr(stdscr, lines[i].text.c_str(), static_cast<int>(lines[i].text.size()));
  }
  ::wattrset(stdscr, static_cast<int>(A_NORMAL));
  ::wrefresh(stdscr);
}

std::optional<std::pair<Key, char>> Terminal::key() {
  constexpr int kEscape = 27;
  constexpr int kBackspace = 8;
  constexpr int kDelete = 127;
  for (;;) {
    const int code = ::wgetch(stdscr);
    const auto is = [](Key key) { return std::pair(key, '\0'); };
    switch (code) {
      case ERR: return std::nullopt;
      case KEY_RESIZE: continue;
      case KEY_UP: return is(Key::Up);
      case KEY_DOWN: return is(Key::Down);
      case KEY_PPAGE: return is(Key::PageUp);
      case KEY_NPAGE: return is(Key::PageDown);
      case KEY_HOME: return is(Key::Home);
      case KEY_END: return is(Key::End);
      case KEY_ENTER:
      case '\r':
      case '\n': return is(Key::Enter);
      case kEscape: return is(Key::Escape);
      case KEY_BACKSPACE:
      case kBackspace:
      case kDelete: return is(Key::Erase);
      default:
        if (code >= 0 && code < 256) return std::pair(Key::Other, static_cast<char>(code));
    }
  }
}

void Terminal::follow_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) {
    ::resizeterm(size.ws_row, size.ws_col);
  }
}

void Terminal::suspend() {
  ::endwin();
  ::raise(SIGSTOP);
  ::wrefresh(stdscr);
}

}  // namespace sml::top
