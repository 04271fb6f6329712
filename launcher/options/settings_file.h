// Parses the text of a --config file: INI as people write it, and the part of TOML that such a file needs. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"

namespace sml::plan {

inline constexpr std::size_t kMaxSettingsBytes = 1 << 20;

struct Setting {
  std::string section;  // the last [SECTION] before the setting; empty: none
  std::string key;
  std::vector<std::string> values;  // several for a list
  std::size_t line = 0;             // from 1
};

// A line is KEY = VALUE, [SECTION], empty, or a comment ("#" or ";"). VALUE is a list in brackets, which may span
// lines; '...', where everything is literal; "...", where \n \t \r \" and \\ are escapes; or bare: the rest of the line
// without a comment, which begins with a blank and "#" or ";". Errors (Config) begin with "PATH:LINE: " and never show
// a value, as it may be a secret.
Result<std::vector<Setting>> parse_settings_file(std::string_view text, std::string_view path);

}  // namespace sml::plan
