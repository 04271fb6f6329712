// The text of an --env-file: variables for the workers.
#pragma once
#include <string_view>

#include "common/core/error.h"
#include "common/plan/worker_env.h"

namespace sml::plan {

inline constexpr std::size_t kMaxEnvFileBytes = 4 << 20;

// A name that a worker's variable may have: [A-Za-z_][A-Za-z0-9_.-]*. Narrower than what the kernel takes, so that
// "A;B" or "BASH_FUNC_f%%" is seen to be a mistake.
bool valid_variable_name(std::string_view name);

// One variable a line: [export ]NAME=VALUE. Blank lines and lines that begin with '#' say nothing. VALUE is taken as it
// stands, without blanks around it and without a comment (a '#' after a blank); in '...' everything is literal, in
// "..." \n \t \r \" \\ \$ and \` are escapes; a quoted value may go on over several lines. Nothing is expanded or
// executed. Errors (kind Config) begin with "PATH:LINE: ".
Result<Environment> parse_env_file(std::string_view text, std::string_view path);

}  // namespace sml::plan
