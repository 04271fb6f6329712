// The signals that users and systems send to make a process end. Pure.
#pragma once
#include <algorithm>
#include <csignal>
#include <iterator>

namespace sml {

// No process of sml-run kills workers at once because of a single one of these: see launcher/os/stop_rule.h.
inline constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

constexpr bool is_stop(int signo) {
  return std::find(std::begin(kStopSignals), std::end(kStopSignals), signo) != std::end(kStopSignals);
}

}  // namespace sml
