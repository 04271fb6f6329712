// Decides whether a job is restarted after an attempt has ended. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "common/core/clock.h"
#include "common/core/exit_status.h"
#include "common/core/strong.h"
#include "launcher/options/restart_options.h"
#include "launcher/report/outcome/job_outcome.h"

namespace sml::run {

// Signs of progress of an attempt.
struct Signs {
  bool all_joined = false;             // its workers had met
  bool some_joined = false;            // some of them had
  std::optional<bool> file_touched{};  // nothing: --progress-file names none
  std::optional<bool> line_matched{};  // nothing: no --watch
};

// An attempt that has ended.
struct PastAttempt {
  // An attempt that lasted this long resets the backoff of restarts.
  static constexpr Duration kHealthy = std::chrono::seconds(60);

  TimePoint started;  // start of its workers
  TimePoint ended;
  report::FailureCause cause = report::FailureCause::Success;
  std::optional<ExitStatus> status{};  // of the root cause
  bool left_behind = false;            // processes of it could not be ended; their hosts are out for that
  bool is_last = false;                // it was ended in order to end the job
  bool host_is_out = false;            // for cause Host: that host is lost, so another attempt would run without it
  bool is_free = false;  // the next attempt does not count as a restart: the workers of this one had not started
  bool lasts = false;    // as well: the fault is in the command and would recur
  Signs signs{};
  std::uint32_t resets = 0;      // elastic resets within the attempt; each counts as a restart
  std::optional<HostId> root{};  // the host of the root cause
  std::string no_hosts{};        // a clause: why another attempt has no hosts; empty if it has
};
PastAttempt past_attempt(const report::AttemptFacts& facts, const report::JobOutcome& verdict, TimePoint ended);

// One sign, of --progress-file or of --watch, is enough; if neither is set, the attempt made progress if all workers
// joined or if it lasted kHealthy. An attempt without signs that ended because of a host, or to regroup, is Untold.
enum class Progress : std::uint8_t { Made, None, Untold };
Progress progress_of(const PastAttempt& attempt);

struct TryAgain {
  Duration delay{};
};
struct EndJob {
  std::string why;  // there is no restart: a clause for people; empty: that needs no word
};
using Decision = std::variant<TryAgain, EndJob>;

// `history` has all attempts of the job; the last has just ended. `chance`, from 0 to 1, varies the delay by up to a
// tenth so that many jobs do not restart at the same moment.
Decision decide(const RestartOptions& options, std::span<const PastAttempt> history, double chance);

}  // namespace sml::run
