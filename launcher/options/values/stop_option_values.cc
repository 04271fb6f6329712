// Setters of option_values.h for stopping workers.
#include <algorithm>
#include <csignal>
#include <iterator>

#include "common/core/exit_status.h"
#include "common/core/text.h"
#include "launcher/options/values/option_values.h"
#include "launcher/options/values/value_reading.h"

namespace sml {

namespace {

using std::string_view;

constexpr Duration kLeastTime = std::chrono::milliseconds(100);

// Signals that a program can handle and that have no other meaning to the launcher or to it.
std::optional<int> handled_signal(string_view name) {
  constexpr int kTaken[] = {SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGPWR, SIGXCPU};
  const std::optional<int> signo = signal_number(name);
  return signo && std::count(std::begin(kTaken), std::end(kTaken), *signo) > 0 ? signo : std::nullopt;
}

constexpr string_view kSignals = "HUP, INT, QUIT, ABRT, USR1, USR2, ALRM, TERM, PWR and XCPU";

}  // namespace

Result<void> set_stop_signal(Options& o, string_view value) {
  const std::optional<int> signo = handled_signal(value);
  if (!signo) return bad_value(value, "one of " + std::string(kSignals));
  o.stop.signal = *signo;
  return {};
}

Result<void> set_checkpoint_signal(Options& o, string_view value) {
  const std::size_t comma = value.find(',');
  const std::optional<int> signo = handled_signal(value.substr(0, comma));
  const Result<Duration> time = parse_duration(comma == string_view::npos ? "" : value.substr(comma + 1));
  if (!signo || !time || *time < kLeastTime) {
    return bad_value(value, "a signal and a time of 100 ms or more, such as USR1,120s; the signal is one of " +
                                std::string(kSignals));
  }
  o.stop.checkpoint = CheckpointTime{*signo, *time};
  return {};
}

}  // namespace sml
