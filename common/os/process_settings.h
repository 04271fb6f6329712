// Resource limits and the umask of this process, which its children inherit.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/process_settings.h"

namespace sml::os {

// The soft limits that srun(1) passes on, and the umask. Without /proc, or with a kernel before 4.7, the umask is 0 for
// a moment while it is read: no other thread may make a file meanwhile.
ProcessSettings process_settings();

// The umask in the text of /proc/PID/status; nullopt: it is not there.
std::optional<std::uint32_t> umask_in(std::string_view status);

// Applies the settings to this process. `open_files` receives the soft limit on open files for the workers, as this
// process raises its own limit to the highest value; it stays if the settings have no such limit. Returns a message, as
// a part of a sentence, for each limit that this process may not raise as far as requested.
std::vector<std::string> apply_settings(const ProcessSettings& settings, unsigned long& open_files);

// The limits of workers that this process starts: `open_files`, and for the others the soft limits of this process.
ReportedLimits telling_limits(unsigned long open_files);

}  // namespace sml::os
