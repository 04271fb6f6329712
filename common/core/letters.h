// Upper and lower case of ASCII, independent of the locale: names of hosts, keywords and settings have no other
// letters.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

namespace sml {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

constexpr bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace sml
