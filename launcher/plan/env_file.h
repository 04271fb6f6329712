// Parses the text of an --env-file: variables for the workers.
#pragma once
#include <string_view>

#include "common/core/error.h"
#include "common/plan/environment/worker_env.h"

namespace sml::plan {

inline constexpr std::size_t kMaxEnvFileBytes = 4 << 20;

// True if a worker's variable may have this name: [A-Za-z_][A-Za-z0-9_.-]*. Narrower than what the kernel accepts, so
// that mistakes such as "A;B" and names such as "BASH_FUNC_f%%" are refused.
bool valid_variable_name(std::string_view name);

// One variable per line: [export ]NAME=VALUE. Blank lines and lines that begin with '#' are ignored. An unquoted VALUE
// is taken literally, without surrounding blanks and without a comment (a '#' after a blank); in '...' everything is
// literal; in "..." \n \t \r \" \\ \$ and \` are escapes. A quoted value may span several lines. Values are neither
// expanded nor executed. Errors (kind Config) begin with "PATH:LINE: ".
Result<Environment> parse_env_file(std::string_view text, std::string_view path);

}  // namespace sml::plan
