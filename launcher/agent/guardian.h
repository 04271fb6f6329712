// The two processes above the agent: they see to it that nothing survives an agent that dies before its work is done.
#pragma once
#include <atomic>
#include <csignal>
#include <cstdint>
#include <functional>

#include <sys/types.h>

#include "launcher/agent/scratch_folder.h"

namespace sml::agent {

// In memory that the agent and the two above it share.
struct Pact {
  std::atomic<std::uint32_t> stand_still_ms = 30'000;  // how long the agent may be stopped before it counts as lost
  std::atomic<pid_t> keeper = 0;
  std::atomic<pid_t> agent = 0;  // 0: not yet
};

// What the agent gets when its parent has died: whether another watches now is for getppid() to say.
inline constexpr int kParentDied = SIGUSR1;

// What they are called in the list of processes.
inline constexpr const char* kKeeperName = "sml-run-keeper";
inline constexpr const char* kGuardianName = "sml-run-guard";

// Forks twice: this process becomes the keeper, its child the guardian, and that one's child goes on as the agent:
// `serve` is called there, and its result is the child's exit status. The two, which hold no descriptor of the agent's
// and do nothing but wait, answer that status when the agent has left.
//
// If the agent is killed, its workers die with it (PR_SET_PDEATHSIG) and whatever they had started comes to the
// guardian, which is a subreaper too and ends it with SIGKILL; it gives up on what cannot be ended after some seconds.
// Where a cgroup can be made for all of them, that is killed as one, so that not even a fork bomb outruns us. An agent
// that is stopped (SIGSTOP) hears nothing, so the launcher gives it up after the heartbeat timeout; the guardian then
// does the same. A signal that stops (stop_rule.h) is handed on to the agent, which gives its workers their grace:
// batch systems send it to every process of a job.
//
// If the guardian is killed, or stopped for as long, agent and orphans come to the keeper, which is from then on what
// the guardian was; the agent gets kParentDied and goes on. No process can be put above one that runs, which is why the
// keeper has been there from the start. If it is the keeper that is killed, the guardian goes on; but sshd, whose child
// the keeper is, then closes the agent's input, which ends the job on that host as any loss of the connection does. If
// both are killed, the agent gets kParentDied, stops the job, and removes the cgroup. Only all three killed at the same
// moment leave something: processes that workers had started, the agent's scratch folder, and the cgroup. The launcher
// comes back for these (leftovers.h); the next keeper removes the cgroup once it is empty.
//
// The agent's scratch folder is the keeper's, so that it goes even if the agent is killed.
int guard(const std::function<int(Pact&, const ScratchFolder&)>& serve);

}  // namespace sml::agent
