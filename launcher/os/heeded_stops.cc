#include "launcher/os/heeded_stops.h"

#include <csignal>
#include <iterator>

#include "common/core/stop_signals.h"

namespace sml::os {

std::vector<int> heeded_stops() {
  std::vector<int> out(std::begin(kStopSignals), std::end(kStopSignals));
  struct sigaction action = {};
  if (::sigaction(SIGHUP, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) std::erase(out, SIGHUP);
  return out;
}

}  // namespace sml::os
