// The agent's parent: sees to it that nothing survives an agent that dies before its work is done.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>

#include "launcher/agent/scratch_folder.h"

namespace sml::agent {

// In memory that the agent and its guardian share.
struct Pact {
  std::atomic<std::uint32_t> stand_still_ms = 30'000;  // how long the agent may be stopped before it counts as lost
};

// Forks. The child goes on as the agent: `serve` is called there, and its result is the child's exit status. The
// parent, which holds no descriptor of the agent's and does nothing but wait, answers that status when the agent has
// left.
//
// If the agent is killed, its workers die with it (PR_SET_PDEATHSIG) and whatever they had started comes to the
// guardian, which is a subreaper too and ends it with SIGKILL; it gives up on what cannot be ended after some seconds.
// Where a cgroup can be made for all of them, that is killed as one, so that not even a fork bomb outruns us. SIGTERM
// to the guardian does the same by force. If the guardian is killed, the agent gets SIGTERM, stops the job, and removes
// the cgroup. An agent that is stopped (SIGSTOP) hears nothing, so the launcher gives it up after the heartbeat
// timeout; the guardian then does the same. Only both of them killed at the same moment leave something: processes that
// workers had started, the agent's scratch folder, and the cgroup, which the next guardian removes once it is empty.
//
// The agent's scratch folder is the guardian's, so that it goes even if the agent is killed.
int guard(const std::function<int(Pact&, const ScratchFolder&)>& serve);

}  // namespace sml::agent
