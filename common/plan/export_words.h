// The values of -x: which variables workers get beyond the base environment.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/worker_env.h"

namespace sml::plan {

// One -x word is NAME (the launcher's value), NAME=VALUE or PREFIX* (all of the launcher's variables that begin so).
// Errors of kind Usage quote the word, never the value: it may be a secret.
Result<void> check_export_word(std::string_view word);

struct ExportedVariables {
  Environment variables;              // in the order of the words
  std::vector<std::string> warnings;  // a clause for each name that is not set, and each pattern that matches nothing
};

// PREFIX* leaves out what belongs to a host or to the launcher that started us; NAME passes anything.
// Every word must have passed check_export_word().
ExportedVariables resolve_export_words(std::span<const std::string> words,
                                       std::span<const std::string> launcher_environment);

}  // namespace sml::plan
