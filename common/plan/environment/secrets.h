// Guesses from names and values which variables hold secrets: so that other hosts do not get them, and that no text
// shows their values. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/plan/environment/worker_env.h"

namespace sml::plan {

// Recognizes the usual names of secrets: HF_TOKEN, DB_PASSWORD, AWS_ACCESS_KEY_ID, apiKey. Excludes names of settings
// about secrets, and of paths where secrets lie: TOKENIZERS_PARALLELISM, MAX_TOKENS, PASSWORD_STORE_DIR, SSL_KEY_FILE.
bool names_a_secret(std::string_view name);

// True for a "NAME=VALUE" if names_a_secret(NAME), unless the value is empty or a switch ("1", "true", "no", ...); or
// if the value has a URL that contains a password, such as postgres://user:word@host.
bool holds_a_secret(std::string_view entry);

// Whether variables that hold secrets are sent to other hosts with the rest of the environment.
enum class SecretExport : std::uint8_t { Withheld, Sent };

// Returns the names, sorted and each once, of the secrets among what for_other_hosts() (kept_back.h) makes of
// `environment`. attempt::withheld_secrets() leaves out those that the user sends all the same (-x, --export-secrets).
std::vector<std::string> secrets_for_other_hosts(std::span<const std::string> environment);

// Returns the message "2 variables that look like secrets stay here: AWS_SECRET_ACCESS_KEY, GITHUB_TOKEN; ...", with at
// most 20 names. `names` must not be empty.
std::string say_withheld(std::span<const std::string> names);

}  // namespace sml::plan
