// Errors about what the user gave. The text is formatted if values follow it, and taken as it is otherwise. Not for the
// agent, which has no libfmt.
#pragma once
#include <fmt/format.h>

#include <string>
#include <utility>

#include "common/core/error.h"

namespace sml {

// Kind Usage: words of the command line.
inline Error usage_error(std::string message) { return {ErrorKind::Usage, std::move(message)}; }
template <class First, class... Rest>
Error usage_error(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
  return usage_error(fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...));
}

// Kind Config: files and environment that describe the job.
inline Error config_error(std::string message) { return {ErrorKind::Config, std::move(message)}; }
template <class First, class... Rest>
Error config_error(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
  return config_error(fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...));
}

}  // namespace sml
