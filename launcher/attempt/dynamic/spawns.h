// The ranks that MPI ranks spawn while the job runs (MPI_Comm_spawn): where they go, which hosts are informed, and from
// when on they belong to the job.
//
// Requests are handled one at a time; the others wait. Idle hosts that are to get ranks are reached first
// (DynamicHosts). All hosts that are to get ranks check whether they can; then all start, or none. From the start on
// they are ranks of the attempt (PlanExtension).
#pragma once
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/plan/launch_plan.h"
#include "common/wire/messages.h"
#include "launcher/attempt/attempt_context.h"
#include "launcher/attempt/attempt_machine.h"
#include "launcher/attempt/dynamic/dynamic_hosts.h"
#include "launcher/attempt/dynamic/plan_extension.h"
#include "launcher/attempt/session_plans.h"
#include "launcher/attempt/workers.h"
#include "launcher/fleet/fleet.h"

namespace sml::attempt {

class Spawns {
 public:
  // Everything here outlives the use of this; see DynamicRanks::Deps.
  struct Deps {
    const AttemptContext& context;
    const AttemptMachine& machine;
    PlanExtension& growth;
    DynamicHosts& late;
    RendezvousSetup& rendezvous;
    const Workers& workers;
  };
  explicit Spawns(Deps deps) : deps_(deps) {}

  // A rank on `host` requests ranks. Its MPI library gets the reply as a SpawnAnswer when they start or cannot start.
  void handle(const fleet::Host& host, const wire::SpawnRequest& m);
  // The host's reply to AddWorkers: whether it can start the ranks.
  void handle(const fleet::Host& host, const wire::Added& m);
  // Call when the host's session has ended.
  void lost(const fleet::Host& host);
  // Call when the rank has ended: drops its request if hosts for it are being reached.
  void ended(Rank rank);

 private:
  // The first request, while hosts check whether they can start its ranks.
  struct Pending {
    plan::JobMap world;          // the requested ranks, counted from 0
    plan::LaunchPlan grown;      // the plan with these ranks
    std::set<HostId> awaited{};  // hosts whose reply is missing
    std::string why{};           // why the ranks cannot start, a part of a sentence after "it"; empty: no reason
    wire::AddWorkers message{};  // the message for a host that has none of its ranks
  };
  const plan::LaunchPlan& plan() const { return deps_.growth.plan(); }
  void next();
  Result<void> begin(const wire::SpawnRequest& request);
  plan::SpawnRoom room() const;
  std::uint32_t living(const plan::MappedHost& host) const;  // number of the host's ranks that have not ended
  SessionSettings settings() const;
  Pending plan_for(const wire::SpawnRequest& request, plan::JobMap world) const;
  void reach(const wire::SpawnRequest& request, const plan::LaunchPlan& grown, const std::vector<HostIndex>& hosts);
  void reached();
  Result<void> ask_hosts(const wire::SpawnRequest& request, Pending pending);
  void give_up(const std::string& why);
  void look();
  void start(const wire::SpawnRequest& request);
  void answer(const wire::SpawnRequest& request, const std::string& why);  // `why` empty: the ranks start

  Deps deps_;
  std::deque<wire::SpawnRequest> requests_;  // the first is pending
  bool reaching_ = false;                    // whether hosts for the first request are being reached
  std::optional<Pending> pending_;
  // for hosts that come later: earlier worlds, as sent to a host without ranks of theirs
  std::vector<wire::AddWorkers> worlds_;
};

}  // namespace sml::attempt
