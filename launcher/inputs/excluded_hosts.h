// Hosts that --exclude-file names, left out of those that there are.
#pragma once
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/host.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/restart_options.h"

namespace sml {

// Answers the names of those that were in `hosts` and are not now; a file that is not there names none. Errors: the
// file cannot be read or is none (Config); no host is left (Usage).
Result<std::vector<std::string>> leave_out_excluded(std::vector<plan::Host>& hosts, const ExcludeOptions& options,
                                                    const ThisHost& here);

}  // namespace sml
