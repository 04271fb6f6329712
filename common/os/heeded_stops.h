// Which signals stop this process.
#pragma once
#include <vector>

namespace sml::os {

// kStopSignals, but SIGHUP where it has been ignored so far, as nohup(1) asks for.
std::vector<int> heeded_stops();

}  // namespace sml::os
