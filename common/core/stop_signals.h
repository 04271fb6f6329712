// The signals that users and systems send to make a process end, or before they do. Pure.
#pragma once
#include <algorithm>
#include <csignal>
#include <iterator>

namespace sml {

// No process of sml-run kills workers at once because of a single one of these: see launcher/os/stop_rule.h.
inline constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// Signals that batch systems send to all processes of a job as a notice before its end (sbatch --signal, qsub -notify,
// bsub -wa), for programs that ask for it. By default they end a process; agents and their guardians ignore them.
inline constexpr int kNoticeSignals[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGPWR, SIGXCPU};

constexpr bool is_stop(int signo) {
  return std::find(std::begin(kStopSignals), std::end(kStopSignals), signo) != std::end(kStopSignals);
}

}  // namespace sml
