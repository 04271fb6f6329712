// Reads settings files of launchers in YAML. Supports only the part of YAML that these files need: lines "key: value",
// and sections of such lines. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"

namespace sml::dialects {

// A line that has a key.
struct ConfigLine {
  std::string where;    // "FILE:3"
  std::string section;  // empty: outside of any section
  std::string key;
  std::string value;  // without quotes; empty if the line has no value, or has null, ~, {} or []
};

// The lines that have a key, in order, including those that begin a section. All indented lines after the beginning of
// a section belong to it, however deep they are indented. Error (Config), which names the line: a list, an alias, or a
// value of several lines.
Result<std::vector<ConfigLine>> config_lines(std::string_view text, std::string_view path);

// A boolean of YAML 1.1, as PyYAML reads it; nullopt for any other text.
std::optional<bool> truth(std::string_view text);

}  // namespace sml::dialects
