// Whether a job whose attempt is over is tried again. Pure.
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
#include "launcher/report/verdict.h"

namespace sml::run {

// What shows whether an attempt got on.
struct Signs {
  bool all_joined = false;             // its workers had met
  bool some_joined = false;            // some of them had
  std::optional<bool> file_touched{};  // nothing: --progress-file names none
  std::optional<bool> line_matched{};  // nothing: no --watch
};

// An attempt that is over.
struct PastAttempt {
  // That lasted so long; the delay of restarts is small again after it.
  static constexpr Duration kHealthy = std::chrono::seconds(60);

  TimePoint started;  // of its workers
  TimePoint ended;
  report::Decider cause = report::Decider::Success;
  std::optional<ExitStatus> status{};  // of the worker that decided
  bool left_behind = false;            // processes of it could not be ended, on hosts that are out for that
  bool is_last = false;                // it was ended so that the job ends
  bool host_is_out = false;            // of the cause Host: it is lost, so that another attempt would do without it
  bool is_free = false;                // the attempt that follows is no restart: its workers had not been started
  bool lasts = false;                  // likewise: what is wrong is wrong with the command
  Signs signs{};
  std::uint32_t resets = 0;      // within it, which count as restarts
  std::optional<HostId> root{};  // the host of the worker that decided
  std::string no_hosts{};        // why no other attempt has its hosts, a clause; empty: one has
};
PastAttempt past_attempt(const report::Facts& facts, const report::Verdict& verdict, TimePoint ended);

// Of the signs of a file and of lines one is enough; where neither is asked for, it is enough that all workers met or
// that the attempt lasted. One that a host has ended says nothing.
enum class Progress : std::uint8_t { Made, None, Untold };
Progress progress_of(const PastAttempt& attempt);

struct TryAgain {
  Duration delay{};
};
struct EndJob {
  std::string why;  // there is no restart: a clause for people; empty: that needs no word
};
using Decision = std::variant<TryAgain, EndJob>;

// `history`: all attempts of the job, the last of which has just ended. `chance`, from 0 to 1, spreads the restarts of
// many jobs by a tenth.
Decision decide(const RestartOptions& options, std::span<const PastAttempt> history, double chance);

}  // namespace sml::run
