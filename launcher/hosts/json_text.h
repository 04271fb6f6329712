// Parses untrusted JSON within bounds. Only for the .cc files of this folder: the library's header is heavy.
#pragma once
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/core/error.h"

namespace sml::hosts {

// Accepts at most 1 MiB and 64 levels. Errors (kind Config) name `path`, and for malformed JSON the line and column.
Result<nlohmann::json> parse_json(std::string_view text, std::string_view path);

}  // namespace sml::hosts
