// Leaves out hosts that --exclude-file names.
#pragma once
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/machine/host.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/restart_options.h"

namespace sml {

// Removes them from `hosts` and returns their names; a missing file names none. Errors: the file cannot be read or
// parsed (Config); no host is left (Usage).
Result<std::vector<std::string>> leave_out_excluded(std::vector<plan::Host>& hosts, const ExcludeOptions& options,
                                                    const ThisHost& here);

}  // namespace sml
