// Resolves the values of -x: the variables that workers get in addition to the base environment. Pure.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/environment/worker_env.h"

namespace sml::plan {

// An -x word is NAME (the launcher's value), NAME=VALUE or PREFIX* (all of the launcher's variables that begin with
// PREFIX). Errors (Usage) quote the word without its value, which may be a secret.
Result<void> check_export_word(std::string_view word);

struct ExportedVariables {
  Environment variables;              // in the order of the words
  std::vector<std::string> warnings;  // about unset names, patterns without a match, secrets that others can see
};

// PREFIX* leaves out variables that belong to a host or to the launcher that started sml-run; NAME passes any variable.
// Every word must have passed check_export_word().
ExportedVariables resolve_export_words(std::span<const std::string> words,
                                       std::span<const std::string> launcher_environment);

}  // namespace sml::plan
