// The program that a batch system's starter starts on a host: it calls the launcher, runs the command by which the
// launcher starts the agent there, and relays that command's input and output, as an SSH server would.
#pragma once
#include <string>

#include "launcher/dialin/step/step_call.h"

namespace sml::dialin {

// Blocks until the programs that it has started have ended; this thread runs the loop. Returns the exit status. Calls
// again if the connection breaks: an agent that still runs can be taken over by another connection. On a stop signal it
// ends if it has started no program; else it leaves the reaction to the agent, which receives the signal, too. Errors
// go to standard error, and as StepLine to standard output. Exit by _Exit() afterwards. `secret`: the value of
// StepCall::secret_variable; empty if there is none, which is an error.
int serve_step(const StepCall& call, const std::string& secret);

}  // namespace sml::dialin
