// The ranks that ranks of MPI ask for while the job runs (MPI_Comm_spawn): where they go, who is told, and from when on
// they belong to the job.
//
// One wish at a time, the others wait. All hosts that are to have some look first whether they can; then all start, or
// none. From the start on they are ranks of the attempt, behind the planned ones: in its plan, which is this attempt's
// own, its table, its output and its events. An attempt that follows begins with what was planned.
#pragma once
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "common/plan/launch_plan.h"
#include "common/wire/messages.h"
#include "launcher/attempt/attempt_owner.h"
#include "launcher/attempt/session_plans.h"
#include "launcher/attempt/worker_sink.h"
#include "launcher/attempt/workers.h"
#include "launcher/fleet/fleet.h"
#include "launcher/report/event_feed.h"

namespace sml::attempt {

class Spawns {
 public:
  // All of it outlives this.
  struct Around {
    fleet::Fleet& fleet;
    plan::LaunchPlan& plan;  // grows
    Workers& workers;
    const report::EventFeed& events;
    AttemptOwner& owner;
    WorkerSink& sink;
    std::function<SessionSettings()> settings;
    std::function<bool()> run;  // the workers do, and are not being ended
  };
  explicit Spawns(Around around) : around_(std::move(around)) {}

  void ask(const fleet::Host& host, wire::SpawnWish wish);
  void note(const fleet::Host& host, const wire::Added& m);
  // Its session has ended.
  void lost(const fleet::Host& host);
  // As it was before it grew; nothing: it has not.
  const std::optional<plan::LaunchPlan>& planned() const { return planned_; }

 private:
  struct Pending {
    plan::JobMap world;
    plan::LaunchPlan grown;
    std::set<HostIndex> awaited;
    std::string why;  // not: a clause
  };
  void next();
  Result<void> begin(const wire::SpawnWish& wish);
  plan::FreeSlots free_slots() const;
  void look();
  void start(const wire::SpawnWish& wish);
  void answer(const wire::SpawnWish& wish, const std::string& why);

  Around around_;
  std::deque<wire::SpawnWish> wishes_;  // the first is pending
  std::optional<Pending> pending_;
  std::optional<plan::LaunchPlan> planned_;
};

}  // namespace sml::attempt
