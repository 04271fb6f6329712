// Finds the programs of workers on this host.
#pragma once
#include <string>

#include "common/core/error.h"
#include "common/plan/environment/worker_env.h"
#include "common/wire/messages.h"

namespace sml::agent {

// Returns the file of a program, perhaps relative to its working directory: searches App::search_path and then PATH of
// `environment`, the workers' environment, by os::find_program(). Also checks the script of an interpreter: a missing
// one is an error with the status with which the interpreter would exit. For an app without a program (`argv` is
// empty), checks only the directory and returns an empty string. Blocks for as long as the file system takes.
Result<std::string> find_program(const wire::App& app, const plan::Environment& environment);

}  // namespace sml::agent
