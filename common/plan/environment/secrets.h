// Guesses from names and values which variables hold secrets. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/plan/environment/worker_env.h"

namespace sml::plan {

// Recognizes the usual names of secrets: HF_TOKEN, DB_PASSWORD, AWS_ACCESS_KEY_ID, apiKey. Excludes names that are only
// about secrets or say where they are: TOKENIZERS_PARALLELISM, MAX_TOKENS, PASSWORD_STORE_DIR, SSL_KEY_FILE.
bool names_a_secret(std::string_view name);

// True for a "NAME=VALUE" with a non-empty value if names_a_secret(NAME), or if the value has a URL that contains a
// password, such as postgres://user:word@host.
bool holds_a_secret(std::string_view entry);

// Whether variables that hold secrets are sent to other hosts with the rest of the environment.
enum class SecretExport : std::uint8_t { Withheld, Sent };

// The names, sorted, of the variables of `environment` that for_other_hosts() would pass but that hold secrets.
std::vector<std::string> withheld_secrets(std::span<const std::string> environment);

// The message "2 variables that look like secrets stay here: AWS_SECRET_ACCESS_KEY, GITHUB_TOKEN; ...". `names` must
// not be empty.
std::string say_withheld(std::span<const std::string> names);

}  // namespace sml::plan
