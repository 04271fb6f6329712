// Files of settings that launchers keep in YAML: of it what such files need, which is "key: value" and sections of
// these.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"

namespace sml::dialects {

struct ConfigLine {
  std::string where;    // "FILE:3"
  std::string section;  // empty: it is in none
  std::string key;
  std::string value;  // without quotes; empty where there is none: nothing, null, {} or []
};

// The lines that name something, in their order; those that begin a section too. Errors (kind Config) name the line:
// for lists, aliases, values of several lines, and sections within sections, which are not told from sections.
Result<std::vector<ConfigLine>> config_lines(std::string_view text, std::string_view path);

// YAML 1.1, as PyYAML reads it.
std::optional<bool> truth(std::string_view text);

}  // namespace sml::dialects
