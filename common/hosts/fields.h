// Small rules of text that the readers of hosts share.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/core/letters.h"
#include "common/core/text.h"

namespace sml::hosts {

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A whole number of at most 18 digits, so that sums of two fit; empty for anything else.
inline std::optional<std::uint64_t> whole_number(std::string_view text) {
  if (text.empty() || text.size() > 18 || !std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c); }))
    return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) value = value * 10 + static_cast<std::uint64_t>(c - '0');
  return value;
}

// Takes the text up to the next `separator`, or all of it, off the front of `rest`.
inline std::string_view take_until(std::string_view& rest, char separator) {
  const std::string_view taken = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(taken.size() + 1, rest.size()));
  return taken;
}

// Takes the characters at the front of `rest` that `wanted` accepts.
template <class Wanted>
std::string_view take_while(std::string_view& rest, Wanted wanted) {
  std::size_t size = 0;
  while (size < rest.size() && wanted(rest[size])) ++size;
  const std::string_view taken = rest.substr(0, size);
  rest.remove_prefix(size);
  return taken;
}

inline void drop_blanks(std::string_view& rest) {
  take_while(rest, [](char c) { return is_blank(c); });
}

// Takes the next word off the front of `rest`, with the blanks before it; empty when there is none.
inline std::string_view take_word(std::string_view& rest) {
  drop_blanks(rest);
  return take_while(rest, [](char c) { return !is_blank(c); });
}

}  // namespace sml::hosts
