// Finds the programs of workers on this host.
#pragma once
#include <string>

#include "common/core/error.h"
#include "common/plan/environment/worker_env.h"
#include "common/wire/messages.h"

namespace sml::agent {

// Returns the file of a program: like os::find_program(), but also checks the script of an interpreter. A missing
// script is an error with the status with which the interpreter would exit. `environment` is the workers' environment.
// For an app without a program (`argv` is empty), checks only the directory and returns an empty string.
Result<std::string> find_program(const wire::App& app, const plan::Environment& environment);

}  // namespace sml::agent
