// Workers that are added while others run, because ranks of MPI spawn them. They wait here until the launcher reports
// that all hosts can start theirs, or cancels them.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/core/error.h"
#include "common/wire/messages.h"
#include "launcher/agent/core/lifetime.h"
#include "launcher/agent/mpi/mpi_watch.h"
#include "launcher/agent/workers/attempt_deps.h"
#include "launcher/agent/workers/services.h"
#include "launcher/agent/workers/worker_group.h"
#include "launcher/agent/workers/worker_starter.h"

namespace sml::agent {

class DynamicWorkers {
 public:
  // All arguments must outlive this object. `searched` is called from the loop when a search for programs is over, so
  // that wait() may have changed.
  DynamicWorkers(const AttemptDeps& deps, WorkerOwner& owner, WorkerGroup& workers, const HostServices& services,
                 std::function<void()> searched)
      : deps_(deps), owner_(owner), workers_(workers), services_(services), searched_(std::move(searched)) {}

  // To be called if no workers were planned: the attempt then waits until the first ones have been added and started.
  void expect_first() { first_expected_ = true; }
  bool expects_first() const { return first_expected_; }

  // Finds the programs and resources that the new workers need, and replies to the launcher with Added: within this
  // call, or later when the programs have been found and a service is ready. Starts no worker. `starter` is null if all
  // workers are being ended or have ended: the reply then reports an error; else it must outlive this object. Forgets
  // workers that still wait from an earlier call.
  void prepare(const wire::AddWorkers& m, WorkerStarter* starter);
  // Starts the waiting workers if `m` asks for that; forgets them if `m` cancels them or is about others.
  void start(const wire::StartAdded& m, WorkerStarter& starter, MpiWatch& mpi_watch);
  // True if workers wait here, their programs are looked for, or the first ones are expected: the attempt must not end
  // yet.
  bool wait() const { return first_expected_ || search_ || !waiting_.empty(); }
  // Forgets the waiting workers, and no longer expects the first ones.
  void forget();

 private:
  struct Search {
    wire::AddWorkers plan;
    WorkerEnvironments environments;
    std::vector<Error> missing{};
  };
  void found(Search& search, WorkerStarter& starter);
  void forget_those();
  // Sends the reply about the workers from rank `first` on; `why` is one more error, empty if there is none.
  void settle(Rank first, const std::string& why);
  void share_out(const WorkerStarter& starter);

  const AttemptDeps& deps_;
  WorkerOwner& owner_;
  WorkerGroup& workers_;
  const HostServices& services_;
  std::function<void()> searched_;
  bool first_expected_ = false;
  Rank first_;  // AddWorkers::first of the last call of prepare()
  std::vector<wire::Worker> waiting_;
  std::vector<ResourceAssignment> shares_;  // of waiting_, in its order
  std::optional<wire::Added> answer_;       // not sent yet
  std::shared_ptr<Search> search_;          // null: none is under way
  Lifetime lifetime_;
};

}  // namespace sml::agent
