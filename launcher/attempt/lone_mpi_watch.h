// Ranks that speak MPI and run alone: of the first that is found people are told, or the job does not run.
#pragma once
#include <optional>
#include <string>

#include "common/core/error.h"
#include "common/plan/launch_plan.h"
#include "launcher/attempt/attempt_owner.h"
#include "launcher/options/job_options.h"

namespace sml::attempt {

class LoneMpiWatch {
 public:
  // All of it outlives this.
  LoneMpiWatch(const JobOptions& options, const plan::LaunchPlan& plan, AttemptOwner& owner)
      : options_(options), plan_(plan), owner_(owner), has_warned_(plan.job.attempt > 0) {}

  // Programs of that host. True: it is not to start them.
  [[nodiscard]] bool refuses(HostIndex host, const wire::Prepared& message);
  // The workers start.
  void starts();
  // A worker has shown it. Answers why the job is to end; nothing: it goes on.
  std::optional<Error> found(const std::string& host, const wire::MpiUse& use);
  struct Refusal {
    HostIndex host;
    Error why;
  };
  // Why no workers were started, if that is why.
  std::optional<Refusal> refusal() const;

 private:
  struct Found {
    HostIndex host;
    wire::MpiUse use;
  };

  const JobOptions& options_;
  const plan::LaunchPlan& plan_;
  AttemptOwner& owner_;
  std::optional<Found> found_;  // before the start, of the lowest rank
  bool has_warned_;
};

}  // namespace sml::attempt
