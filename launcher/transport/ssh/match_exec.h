// The command of `Match exec` in an ssh configuration.
#pragma once
#include <string>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "launcher/transport/net/waiting.h"

namespace sml::ssh {

// Runs the line as ssh does: by `shell`, with nothing to read, its output thrown away and its errors on ours. True: it
// ended with 0. Blocks; at the deadline and when cancelled its process group is killed. Error: Config.
Result<bool> command_holds(const std::string& shell, const std::string& line, TimePoint deadline,
                           net::CancelToken& cancel);

}  // namespace sml::ssh
