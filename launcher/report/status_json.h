// How a worker ended, as the JSON of --report and --events has it. Pure. For .cc files: it includes nlohmann's header.
#pragma once
#include <nlohmann/json.hpp>

#include "common/core/exit_status.h"
#include "common/core/usage.h"
#include "launcher/report/host_peaks.h"

namespace sml::report {

// {"text": ..., "exit_code": n} or {"text": ..., "signal": n, "core_dumped": b}; only "text" for what was never
// started.
nlohmann::ordered_json status_json(const ExitStatus& status);

// {"user_s": ..., "system_s": ..., "peak_memory_bytes": ..., "read_bytes": ..., "written_bytes": ...}
nlohmann::ordered_json usage_json(const Usage& usage);

// {"memory_bytes": ..., "peak_memory_used_bytes": ..., "accelerators": [{"name", "peak_busy_percent",
// "peak_memory_used_bytes", "memory_bytes"}]}; null: nothing is known.
nlohmann::ordered_json peaks_json(const HostPeaks& peaks);

}  // namespace sml::report
