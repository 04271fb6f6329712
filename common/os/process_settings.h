// Resource limits and the umask of this process, which those that it starts inherit.
#pragma once
#include <string>
#include <vector>

#include "common/core/process_settings.h"

namespace sml::os {

// The limits that srun(1) hands on, and the umask.
ProcessSettings process_settings();

// From now on. `open_files` is the soft limit that workers get, where ours has been raised. Answers a clause for each
// limit that this process may not raise so far.
std::vector<std::string> take_on(const ProcessSettings& settings, unsigned long& open_files);

TellingLimits telling_limits(unsigned long open_files);

}  // namespace sml::os
