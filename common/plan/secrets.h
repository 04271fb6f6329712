// Which variables hold secrets, as far as names and values tell. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/plan/worker_env.h"

namespace sml::plan {

// By the names that people give to them: HF_TOKEN, DB_PASSWORD, AWS_ACCESS_KEY_ID, apiKey. Not what only speaks of
// them, or says where they are: TOKENIZERS_PARALLELISM, MAX_TOKENS, PASSWORD_STORE_DIR, SSL_KEY_FILE.
bool names_a_secret(std::string_view name);

// "NAME=VALUE": so named, and not empty; or with an address that has a password in it, postgres://user:word@host.
bool holds_a_secret(std::string_view entry);

// Whether variables that hold secrets go to other hosts with the rest of the environment.
enum class SecretExport : std::uint8_t { Withheld, Sent };

// The names of those of `environment` that would travel (see for_other_hosts()) but for that; sorted.
std::vector<std::string> withheld_secrets(std::span<const std::string> environment);

// "2 variables that look like secrets stay here: AWS_SECRET_ACCESS_KEY, GITHUB_TOKEN; ..." `names` is not empty.
std::string say_withheld(std::span<const std::string> names);

}  // namespace sml::plan
