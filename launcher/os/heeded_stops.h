// The signals that stop the job of this process.
#pragma once
#include <vector>

namespace sml::os {

// kStopSignals, without SIGHUP if it is ignored, as under nohup(1).
std::vector<int> heeded_stops();

}  // namespace sml::os
