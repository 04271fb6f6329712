// Values that --report, --events and sml-run status have in common, as JSON: how a worker ended and what it used, the
// peaks of a host, goodput. Pure. Include only in .cc files: it includes nlohmann's header.
#pragma once
#include <nlohmann/json.hpp>

#include "common/core/exit_status.h"
#include "common/core/usage.h"
#include "launcher/report/live/goodput.h"
#include "launcher/report/live/host_peaks.h"

namespace sml::report {

// {"text": ..., "exit_code": n} or {"text": ..., "signal": n, "core_dumped": b}; only "text" for a worker that was not
// started.
nlohmann::ordered_json status_json(const ExitStatus& status);

// {"user_s": ..., "system_s": ..., "peak_memory_bytes": ..., "read_bytes": ..., "written_bytes": ...}
nlohmann::ordered_json usage_json(const Usage& usage);

// {"memory_bytes": ..., "peak_memory_used_bytes": ..., "accelerators": [{"name", "peak_busy_percent",
// "peak_memory_used_bytes", "memory_bytes"}]}; null without samples.
nlohmann::ordered_json peaks_json(const HostPeaks& peaks);

// {"ratio": ..., "wall_s": ..., "good_s": ..., "start_s", "rendezvous_s", "lost_s", "teardown_s", "waiting_s",
// "open_s"}
nlohmann::ordered_json goodput_json(const GoodputSums& sums);

}  // namespace sml::report
