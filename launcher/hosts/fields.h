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

}  // namespace sml::hosts
