// Keeps the attempts of a job so far, and decides whether another follows.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/attempt/attempt_outcome.h"
#include "launcher/report/outcome/job_outcome.h"
#include "launcher/report/outcome/report_json.h"
#include "launcher/run/restarts/restart_policy.h"

namespace sml::run {

class Restarts {
 public:
  static constexpr std::size_t kRemembered = 1000;  // of earlier(): older attempts are dropped from the report

  // `options` must outlive this.
  explicit Restarts(const RestartOptions& options) : options_(options) {}

  // Facts from outside the attempt, at its end.
  struct Deps {
    std::size_t hosts_lost = 0;          // in all attempts so far
    std::string why_no_hosts{};          // why there are no hosts for another attempt; empty: there are enough
    std::optional<bool> file_touched{};  // as in Signs
    std::optional<bool> line_matched{};
  };
  // Records that the attempt `number`, counted from 1, has ended now, and decides. To be called once for each attempt.
  // Does not start the next one.
  Decision ended(std::uint32_t number, const plan::JobMap& map, const attempt::AttemptOutcome& outcome,
                 const report::JobOutcome& verdict, const Deps& deps, TimePoint now);
  // Restarts so far, including the resets of elastic jobs.
  std::uint32_t used() const { return used_; }
  // The attempts that were to be followed by another, oldest first.
  const std::vector<report::AttemptRecord>& earlier() const { return earlier_; }
  // A message for the user about the last decision: "attempt 1 failed with status 3; restart 1 of 4 in 1s".
  std::string announcement(const TryAgain& again) const;

 private:
  const RestartOptions& options_;
  std::vector<PastAttempt> history_;
  std::vector<report::AttemptRecord> earlier_;
  std::size_t hosts_lost_ = 0;  // by the end of the last attempt
  std::uint32_t used_ = 0;      // restarts
};

// The entry of the report for an attempt, which ends at `now`.
report::AttemptRecord record_of(std::uint32_t number, const plan::JobMap& map, const attempt::AttemptOutcome& outcome,
                                const report::JobOutcome& verdict, TimePoint now);

}  // namespace sml::run
