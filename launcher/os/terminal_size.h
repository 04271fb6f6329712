// The width of a terminal.
#pragma once
#include <cstddef>
#include <optional>

#include <sys/ioctl.h>

namespace sml::os {

// Columns of the terminal behind `fd`; nullopt: it is no terminal, or does not report its size.
inline std::optional<std::size_t> terminal_columns(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

}  // namespace sml::os
