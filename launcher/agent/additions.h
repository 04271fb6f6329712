// Workers that come while others run, because ranks of MPI ask for them: they wait here until the launcher says that
// all hosts can start theirs, or that they are not to be.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/wire/messages.h"
#include "launcher/agent/attempt_surroundings.h"
#include "launcher/agent/mpi_watch.h"
#include "launcher/agent/services.h"
#include "launcher/agent/worker_group.h"
#include "launcher/agent/worker_starter.h"

namespace sml::agent {

class Additions {
 public:
  // What is given outlives this.
  Additions(const AttemptSurroundings& around, WorkerOwner& owner, WorkerGroup& workers, const HostServices& services)
      : around_(around), owner_(owner), workers_(workers), services_(services) {}

  // No workers were planned: the first that come, and start, are waited for.
  void expect_first() { first_expected_ = true; }
  bool expects_first() const { return first_expected_; }

  // Looks for what they need, and answers. `starter` is null where all are being ended, or have: nobody waits for them
  // there any more. Those that wait already are forgotten.
  void prepare(const wire::AddWorkers& m, WorkerStarter* starter);
  // Starts those that wait for it.
  void start(const wire::StartAdded& m, WorkerStarter& starter, MpiWatch& mpi_watch);
  bool wait() const { return first_expected_ || !waiting_.empty(); }
  void forget();

 private:
  void forget_those();
  void settle(Rank first, const std::string& why);
  void share_out(const WorkerStarter& starter);

  const AttemptSurroundings& around_;
  WorkerOwner& owner_;
  WorkerGroup& workers_;
  const HostServices& services_;
  bool first_expected_ = false;
  Rank first_;
  std::vector<wire::Worker> waiting_;
  std::vector<WorkerShare> shares_;    // theirs
  std::optional<wire::Added> answer_;  // that has not been given yet
};

}  // namespace sml::agent
