// Small text functions that the parsers of hosts share.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/letters.h"
#include "common/core/text.h"

namespace sml::hosts {

// "N1.cluster" → "n1".
inline std::string first_label(std::string_view name) { return lower(name.substr(0, name.find('.'))); }

// Parses a whole number of at most 18 digits, so that the sum of two fits; nullopt for anything else.
inline std::optional<std::uint64_t> whole_number(std::string_view text) {
  return all_digits(text) && text.size() <= 18 ? parse_number<std::uint64_t>(text) : std::nullopt;
}

// Removes the characters that `wanted` accepts from the front of `rest` and returns them.
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

// Removes the next word and the blanks before it from the front of `rest` and returns the word; empty if there is none.
inline std::string_view take_word(std::string_view& rest) {
  drop_blanks(rest);
  return take_while(rest, [](char c) { return !is_blank(c); });
}

}  // namespace sml::hosts
