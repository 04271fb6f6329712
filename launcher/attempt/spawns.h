// The ranks that ranks of MPI ask for while the job runs (MPI_Comm_spawn): where they go, who is told, and from when on
// they belong to the job.
//
// One wish at a time, the others wait. Hosts that run nothing, and are to have some, are reached first (LateHosts). All
// hosts that are to have some look whether they can; then all start, or none. From the start on they are ranks of the
// attempt, behind the planned ones: in its plan, which is this attempt's own, its table, its output and its events. An
// attempt that follows begins with what was planned.
#pragma once
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/plan/launch_plan.h"
#include "common/wire/messages.h"
#include "launcher/attempt/attempt_owner.h"
#include "launcher/attempt/late_hosts.h"
#include "launcher/attempt/plan_growth.h"
#include "launcher/attempt/session_plans.h"
#include "launcher/attempt/worker_sink.h"
#include "launcher/attempt/workers.h"
#include "launcher/fleet/fleet.h"

namespace sml::attempt {

class Spawns {
 public:
  // All of it outlives this.
  struct Around {
    const JobOptions& options;
    fleet::Fleet& fleet;
    const plan::LaunchPlan& plan;
    PlanGrowth& growth;
    LateHosts& late;
    Meeting& meeting;
    const Workers& workers;
    AttemptOwner& owner;
    WorkerSink& sink;
    std::function<bool()> run;  // the workers do, and are not being ended
  };
  explicit Spawns(Around around) : around_(std::move(around)) {}

  void ask(const fleet::Host& host, wire::SpawnWish wish);
  void note(const fleet::Host& host, const wire::Added& m);
  // Its session has ended.
  void lost(const fleet::Host& host);
  // Nobody is there any more to have what it may have asked for.
  void ended(Rank rank);

 private:
  struct Pending {
    plan::JobMap world;
    plan::LaunchPlan grown;
    std::set<HostIndex> awaited{};
    std::string why{};        // not: a clause
    wire::AddWorkers told{};  // of it, to a host that has none of its ranks
  };
  void next();
  Result<void> begin(const wire::SpawnWish& wish);
  plan::SpawnRoom room() const;
  std::uint32_t living(const plan::MappedHost& host) const;
  SessionSettings settings() const;
  Pending plan_for(const wire::SpawnWish& wish, plan::JobMap world) const;
  void reach(const wire::SpawnWish& wish, const plan::LaunchPlan& grown, const std::vector<HostIndex>& hosts);
  void reached();
  Result<void> ask_hosts(const wire::SpawnWish& wish, Pending pending);
  void give_up(const std::string& why);
  void look();
  void start(const wire::SpawnWish& wish);
  void answer(const wire::SpawnWish& wish, const std::string& why);

  Around around_;
  std::deque<wire::SpawnWish> wishes_;  // the first is pending
  bool reaching_ = false;               // hosts, for the first
  std::optional<Pending> pending_;
  std::vector<wire::AddWorkers> worlds_;  // that a host which comes is to know, as told to one without ranks of theirs
};

}  // namespace sml::attempt
