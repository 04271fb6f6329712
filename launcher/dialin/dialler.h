// The side of every other host: calls the head until it answers, runs an agent for it, relays that agent's bytes, and
// ends as the job does.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "launcher/dialin/plan_check.h"
#include "launcher/dialin/settings.h"
#include "launcher/launch/agent_image.h"
#include "launcher/launch/preparation.h"
#include "launcher/options/job_options.h"

namespace sml::dialin {

struct DialPlan {
  Settings settings;
  Duration patience{};                   // how long the head may take to let us in
  Duration grace{};                      // of the workers when the head has gone; of a stop that it is to hear of
  Duration heartbeat_timeout{};          // a head silent for so long has gone
  std::vector<std::string> environment;  // of the agent: what the workers here begin with
  // What the agent may be told, if this host has that place among so many.
  std::function<std::optional<OwnPart>(const Welcome& welcome, const HeadsChoice& choice)> reckon;
  AttemptLimit attempts = 1;
  launch::Chore* chore = nullptr;    // before it, while we call; outlives the job; null: none
  std::optional<Error> unable = {};  // why there is no plan: we call to say so, and run nothing
  Verbosity verbosity = Verbosity::Normal;
};

// How it ended here.
struct Outcome {
  int exit_code = 0;
  std::string text;            // in words; empty: a job that went well
  std::string failure;         // for the failure file; empty: another host's matter
  std::optional<Error> fault;  // why there is no verdict of the head, or what went wrong with the chore
};

// Runs to the end of the job. Uses this thread as loop thread; INT, TERM, HUP and QUIT stop the job, or, before the
// head has answered, this host. `say` tells people how things stand. No agent, worker or connection is left; a name
// look-up may still be under way on a thread that cannot be ended: leave by _Exit().
Outcome dial(const DialPlan& plan, const launch::AgentImage& image,
             const std::function<void(const std::string& text)>& say);

}  // namespace sml::dialin
