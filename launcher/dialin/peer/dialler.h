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
  Duration timeout{};  // how long the coordinator may take to accept this host
  // The time that workers have to end when the coordinator is gone; also the longest time to deliver a stop signal to
  // it.
  Duration grace{};
  Duration heartbeat_timeout{};          // a coordinator silent for so long is lost
  std::vector<std::string> environment;  // the environment of the agent, from which the workers here start
  // Computes what the coordinator may send to the agent of this host in an attempt, given the place and the number of
  // hosts in `welcome`. Returns nullopt if this host has no plan for that; then the coordinator's plan is rejected.
  std::function<std::optional<ExpectedPlan>(const Welcome& welcome, const AttemptParameters& choice)> compute;
  AttemptLimit attempts = 1;  // how many the coordinator may make
  // Runs before the agent starts, while the coordinator is being called; outlives the job. Null: none.
  transport::PreLaunchTask* task = nullptr;
  std::optional<Error> unable =
      {};  // why there is no plan: this host calls only to report that; nullopt: it takes part
  Verbosity verbosity = Verbosity::Normal;
};

// How the job ended, as this host knows it.
struct Outcome {
  int exit_code = 0;           // of sml-run on this host
  std::string text;            // in words; empty if the job succeeded, or if there is only a `fault`
  std::string failure;         // for the failure file; empty: none
  std::optional<Error> fault;  // why no outcome came from the coordinator, or why the pre-launch task failed
};

// Blocks until the job has ended; this thread runs the loop. INT, TERM, HUP and QUIT ask the coordinator to stop the
// job. Before it has accepted this host, they end this host's part: at once if the job can begin without it or if the
// signal is repeated, else once the coordinator has received the stop, or after the grace. `print` takes progress
// messages for people, on a thread of its own, and may block. On return no agent, worker or connection is left, but a
// name look-up may still be running on a thread that cannot be stopped: exit by _Exit().
Outcome dial(const DialPlan& plan, const transport::AgentImage& image,
             const std::function<void(const std::string& text)>& print);

}  // namespace sml::dialin
