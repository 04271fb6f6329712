// Resource limits and the umask of this process, which its children inherit.
#pragma once
#include <string>
#include <vector>

#include "common/core/process_settings.h"

namespace sml::os {

// The soft limits that srun(1) passes on, and the umask.
ProcessSettings process_settings();

// Applies the settings to this process. `open_files` receives the soft limit for workers, as this process raises its
// own. Returns a clause for each limit that this process may not raise as far as requested.
std::vector<std::string> take_on(const ProcessSettings& settings, unsigned long& open_files);

TellingLimits telling_limits(unsigned long open_files);

}  // namespace sml::os
