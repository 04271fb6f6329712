// Finds ranks that use MPI and run alone (MPI singletons): warns the user of the first one, or refuses to run the job.
#pragma once
#include <optional>
#include <string>

#include "common/core/error.h"
#include "common/plan/launch_plan.h"
#include "launcher/attempt/attempt_owner.h"
#include "launcher/options/job_options.h"

namespace sml::attempt {

class MpiSingletonWatch {
 public:
  // The arguments outlive this.
  MpiSingletonWatch(const JobOptions& options, const plan::LaunchPlan& plan, AttemptOwner& owner)
      : options_(options), plan_(plan), owner_(owner), has_warned_(plan.job.attempt > 0) {}

  // Takes what the host's agent has found in its program files. Returns true if the host must not start its programs.
  [[nodiscard]] bool refuses(HostIndex host, const wire::Prepared& message);
  // Call when the workers start: warns of what refuses() has found before.
  void starts();
  // Call when a running worker turns out to run alone. Returns why the job is to end; nullopt: it goes on, and the user
  // is warned once.
  std::optional<Error> found(const std::string& host, const wire::MpiUse& use);
  struct Refusal {
    HostIndex host;
    Error why;
  };
  // Why no workers were started, if MPI singletons are the reason; otherwise nullopt.
  std::optional<Refusal> refusal() const;

 private:
  struct Found {
    HostIndex host;
    wire::MpiUse use;
  };

  const JobOptions& options_;
  const plan::LaunchPlan& plan_;
  AttemptOwner& owner_;
  std::optional<Found> found_;  // before the start, the lowest rank found
  bool has_warned_;
};

}  // namespace sml::attempt
