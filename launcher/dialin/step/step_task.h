// The role of sml-run as the task that a batch system's tool (srun, pbs_tmrsh, ...) starts on a host: it connects to
// the launcher, runs the command that the launcher sends, which starts the agent, and relays that command's standard
// input and output. Only the end of its standard error is sent, as the text of an error.
#pragma once
#include <string>

#include "launcher/dialin/step/step_call.h"

namespace sml::dialin {

// Blocks until the commands that it has started have ended, or the launcher refuses it. This thread runs the loop;
// another looks up the launcher's name and connects. Returns this program's own exit status, never the command's: 0,
// 125 after an error (no answer within 20 s, three connections to someone without the key), 128 plus the number of a
// stop signal. While a command runs it connects anew if the connection breaks, so that the launcher finds the agent
// again. A stop signal ends it if it has started no command; else the agent, which receives the signal too, decides.
// Errors go to standard error, and as StepLine (step_call.h) to standard output, which the launcher reads. The caller
// must leave by _Exit(): the other thread may still wait for a name server. `secret`: the value of
// StepCall::secret_variable; empty if there is none, which is an error.
int serve_step(const StepCall& call, const std::string& secret);

}  // namespace sml::dialin
