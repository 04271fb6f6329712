// Objects and values of the agent that all its attempts use. They all outlive the attempts.
#pragma once
#include <vector>

#include <sys/types.h>

#include "common/plan/environment/worker_env.h"
#include "launcher/agent/core/host_system.h"
#include "launcher/agent/core/local_connection_check.h"
#include "launcher/agent/guardian/guardian.h"
#include "launcher/agent/link/control_link.h"
#include "launcher/agent/os/oom_watch.h"
#include "launcher/agent/workers/preload.h"

namespace sml::agent {

// The state of the agent's process at its start, which its workers begin with, too.
struct StartState {
  plan::Environment environment;
  std::vector<int> ignored_signals;    // os::ignored_signals()
  unsigned long descriptor_limit = 0;  // the soft limit of open descriptors
};

// The agent, as an attempt sees it.
class HostAttemptOwner {
 public:
  virtual ~HostAttemptOwner() = default;
  // The state of workers has changed: the owner must call settle(), but not from within this call.
  virtual void attempt_changed() = 0;
  // True for a child that the agent runs for itself, such as the guardian: an attempt neither ends nor waits for it.
  virtual bool is_own(pid_t child) const = 0;
};

struct AttemptDeps {
  const HostSystem& system;
  const StartState& at_start;
  ControlLink& link;
  LocalConnectionCheck& callers;
  os::OomWatch& oom_watch;
  Preload& preload;
  const Guard& guard;
  HostAttemptOwner& owner;
};

}  // namespace sml::agent
