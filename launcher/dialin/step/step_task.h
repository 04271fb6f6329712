// The program of a host that a batch system's starter has started: calls the launcher, runs for it what starts the
// agent there, and relays bytes, as an SSH server would.
#pragma once
#include <string>

#include "launcher/dialin/step/step_call.h"

namespace sml::dialin {

// Runs until the agents that it has started have ended, with this thread as loop thread; returns the exit status. Calls
// again if the connection breaks: an agent that still runs can be taken over by another connection. Ends on a stop
// signal while it runs nothing; while it runs an agent, that one has the signal, too, and decides. Errors go to
// standard error, and as StepLine to standard output. Exit by _Exit() afterwards. `secret` is empty if there is none.
int serve_step(const StepCall& call, const std::string& secret);

}  // namespace sml::dialin
