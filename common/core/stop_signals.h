// The signals that people and systems send to a process that is to end. Pure.
#pragma once
#include <algorithm>
#include <csignal>
#include <iterator>

namespace sml {

// To no process of ours is one a reason to kill: see common/supervise/stop_rule.h.
inline constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

constexpr bool is_stop(int signo) {
  return std::find(std::begin(kStopSignals), std::end(kStopSignals), signo) != std::end(kStopSignals);
}

}  // namespace sml
