// Reads settings files of launchers in YAML, with libyaml, whose grammar is that of PyYAML, which those launchers use.
// Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"

namespace sml::dialects {

// A key with a value.
struct ConfigLine {
  std::string where;    // "FILE:3", the line of the key
  std::string section;  // the top key that the key is below, however deep; empty: none
  std::string key;
  std::string value;  // not empty; without quotes; a whole number in decimal, however it is written
};

// The keys that have a value, in order; null and an empty text, list or section are none. Error (Config), which names
// the line: the text is no YAML, or has a list, an alias, a tag, a second document, or sections deeper than 32.
Result<std::vector<ConfigLine>> config_lines(std::string_view text, std::string_view path);

// A boolean of YAML 1.1, as PyYAML reads it; nullopt for any other text.
std::optional<bool> truth(std::string_view text);

}  // namespace sml::dialects
