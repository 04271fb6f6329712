// Workers that are added while others run, because ranks of MPI spawn them. They wait here until the launcher reports
// that all hosts can start theirs, or cancels them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/wire/messages.h"
#include "launcher/agent/mpi/mpi_watch.h"
#include "launcher/agent/workers/attempt_deps.h"
#include "launcher/agent/workers/services.h"
#include "launcher/agent/workers/worker_group.h"
#include "launcher/agent/workers/worker_starter.h"

namespace sml::agent {

class DynamicWorkers {
 public:
  // All arguments must outlive this object.
  DynamicWorkers(const AttemptDeps& deps, WorkerOwner& owner, WorkerGroup& workers, const HostServices& services)
      : deps_(deps), owner_(owner), workers_(workers), services_(services) {}

  // No workers were planned: the attempt waits until the first ones have been added and started.
  void expect_first() { first_expected_ = true; }
  bool expects_first() const { return first_expected_; }

  // Finds the programs and resources that the new workers need, and replies to the launcher, possibly later. `starter`
  // is null if all workers are being ended or have ended: the reply then reports an error. Forgets workers that are
  // still waiting from an earlier call.
  void prepare(const wire::AddWorkers& m, WorkerStarter* starter);
  // Starts the waiting workers that `m` names, or forgets them if it cancels them.
  void start(const wire::StartAdded& m, WorkerStarter& starter, MpiWatch& mpi_watch);
  bool wait() const { return first_expected_ || !waiting_.empty(); }
  void forget();

 private:
  void forget_those();
  void settle(Rank first, const std::string& why);
  void share_out(const WorkerStarter& starter);

  const AttemptDeps& deps_;
  WorkerOwner& owner_;
  WorkerGroup& workers_;
  const HostServices& services_;
  bool first_expected_ = false;
  Rank first_;
  std::vector<wire::Worker> waiting_;
  std::vector<ResourceAssignment> shares_;  // of waiting_
  std::optional<wire::Added> answer_;       // not sent yet
};

}  // namespace sml::agent
