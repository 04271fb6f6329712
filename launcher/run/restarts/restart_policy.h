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

// Signs of progress of an attempt. Ranks join when they come to the rendezvous: to torch's store or to a fence of MPI.
struct Signs {
  bool all_joined = false;
  bool some_joined = false;
  std::optional<bool> file_touched{};  // nullopt: there is no --progress-file
  std::optional<bool> line_matched{};  // nullopt: there is no --watch
};

// An attempt that has ended.
struct PastAttempt {
  // An attempt that lasted this long resets the backoff of restarts.
  static constexpr Duration kHealthy = std::chrono::seconds(60);

  TimePoint started;  // start of its workers
  TimePoint ended;
  report::FailureCause cause = report::FailureCause::Success;
  std::optional<ExitStatus> status{};  // of the root cause; nullopt: that is no worker
  bool left_behind = false;            // some of its processes could not be ended; their hosts are out for that
  bool is_last = false;                // it was ended in order to end the job
  bool host_is_out = false;            // for cause Host: that host is lost, so another attempt would run without it
  bool is_no_restart = false;  // the next attempt is no restart: the workers had not started, or it ended to regroup
  bool would_recur = false;    // for cause Host: the fault is in the command, and would recur on any host
  Signs signs{};
  std::uint32_t resets = 0;      // elastic resets within the attempt; each counts as a restart
  std::optional<HostId> root{};  // the host of the root cause; nullopt: that is no worker
  std::string no_hosts{};        // why another attempt has no hosts, as a part of a sentence; empty if it has hosts
};
// Fills in what follows from `facts` and `verdict`; RestartController adds the rest.
PastAttempt past_attempt(const report::AttemptFacts& facts, const report::JobOutcome& verdict, TimePoint ended);

// Made: the file of --progress-file was touched or a line matched --watch; or, if neither option is given, all ranks
// joined or the attempt lasted kHealthy. Unknown for an attempt that ended because of a host, or to regroup; otherwise
// None.
enum class Progress : std::uint8_t { Made, None, Unknown };
Progress progress_of(const PastAttempt& attempt);

// The job is restarted after `delay`, the backoff.
struct TryAgain {
  Duration delay{};
};
struct EndJob {
  std::string why;  // why there is no restart, as a part of a sentence for people; empty: the reason is evident
};
using Decision = std::variant<TryAgain, EndJob>;

// `history` has all attempts of the job; the last has just ended. `chance`, a random number from 0 to 1, varies the
// delay by up to a tenth in either direction, so that many jobs do not restart at the same moment.
Decision decide(const RestartOptions& options, std::span<const PastAttempt> history, double chance);

}  // namespace sml::run
