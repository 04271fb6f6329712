// Reads settings files of launchers in YAML; supports only the subset that these need, "key: value" and sections of
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
  std::string section;  // empty: outside of any section
  std::string key;
  std::string value;  // without quotes; empty if there is no value, or for null, {} or []
};

// The lines with a key, in order; those that begin a section, too. Errors (Config) name the line: for lists, aliases,
// and values of several lines. Nested sections are not distinguished from sections.
Result<std::vector<ConfigLine>> config_lines(std::string_view text, std::string_view path);

// A boolean of YAML 1.1, as PyYAML reads it; nullopt for any other text.
std::optional<bool> truth(std::string_view text);

}  // namespace sml::dialects
