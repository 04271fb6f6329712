// What workers are to run, as it is on this host.
#pragma once
#include <string>

#include "common/core/error.h"
#include "common/plan/worker_env.h"
#include "common/wire/messages.h"

namespace sml::agent {

// The file that a program is: as os::find_program(), and with the script of an interpreter looked for, too: one that is
// not there is an error with the status that the interpreter would end with. `environment` is that of the workers.
// Empty, where only the directory is checked, for an app without a program.
Result<std::string> find_program(const wire::App& app, const plan::Environment& environment);

}  // namespace sml::agent
