// The command of `Match exec` in an ssh configuration.
#pragma once
#include <string>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "launcher/transport/net/waiting.h"

namespace sml::ssh {

// Runs the line by `shell`, as ssh does: standard input and output are /dev/null, standard error is that of this
// process. True: the shell exited with status 0. Blocks; at the deadline, or when cancelled, kills the shell's process
// group. Error (Config): it could not be started, or has not ended in time.
Result<bool> command_holds(const std::string& shell, const std::string& line, TimePoint deadline,
                           net::CancelToken& cancel);

}  // namespace sml::ssh
