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

// The length of the text before the first of `separators` outside of brackets; all of it if there is none.
inline std::size_t end_of_item(std::string_view text, std::string_view separators) {
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!inside && separators.find(text[i]) != std::string_view::npos) return i;
    if (text[i] == '[') inside = true;
    if (text[i] == ']') inside = false;
  }
  return text.size();
}

}  // namespace sml::hosts
