// The program of every host but the coordinator: calls the coordinator until it answers, runs an agent for it, relays
// that agent's bytes, and exits with the job's outcome.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "launcher/dialin/peer/plan_verifier.h"
#include "launcher/dialin/settings.h"
#include "launcher/options/job_options.h"
#include "launcher/transport/agent_image.h"
#include "launcher/transport/background_task.h"

namespace sml::dialin {

struct DialPlan {
  Settings settings;
  Duration patience{};  // how long the coordinator may take to accept this host
  // The time for the workers to end when the coordinator is gone; also the time to deliver a stop to it.
  Duration grace{};
  Duration heartbeat_timeout{};          // a coordinator silent for so long is lost
  std::vector<std::string> environment;  // the environment of the agent, from which the workers here start
  // Computes what the coordinator may send to the agent of this host, given the place and the number of hosts in
  // `welcome`.
  std::function<std::optional<ExpectedPlan>(const Welcome& welcome, const AttemptParameters& choice)> reckon;
  AttemptLimit attempts = 1;
  // Runs before the agent starts, while the coordinator is being called; outlives the job. Null: none.
  transport::PreLaunchTask* task = nullptr;
  std::optional<Error> unable = {};  // why there is no plan: this host calls only to report that, and runs nothing
  Verbosity verbosity = Verbosity::Normal;
};

// The result on this host.
struct Outcome {
  int exit_code = 0;
  std::string text;            // in words; empty if the job succeeded
  std::string failure;         // for the failure file; empty if the job succeeded
  std::optional<Error> fault;  // why the coordinator sent no outcome, or why the pre-launch task failed
};

// Runs to the end of the job, with this thread as loop thread. INT, TERM, HUP and QUIT stop the job or, before the
// coordinator has answered, this host. `print` takes progress messages for people. On return no agent, worker or
// connection is left; a name look-up may still be under way on a thread that cannot be ended: exit by _Exit().
Outcome dial(const DialPlan& plan, const transport::AgentImage& image,
             const std::function<void(const std::string& text)>& print);

}  // namespace sml::dialin
