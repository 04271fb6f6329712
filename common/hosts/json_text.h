// JSON from outside, read within bounds. For the .cc files of this folder only: the library's header is heavy.
#pragma once
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/core/error.h"

namespace sml::hosts {

// At most 1 MiB and 64 levels. Errors (kind Config) name `path`, and the line and column of what is no JSON.
Result<nlohmann::json> parse_json(std::string_view text, std::string_view path);

}  // namespace sml::hosts
