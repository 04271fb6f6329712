// A map with string keys that can be looked up by string_view, without making a string.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sml::agent {

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
};

template <class T>
using StringMap = std::unordered_map<std::string, T, StringHash, std::equal_to<>>;

}  // namespace sml::agent
