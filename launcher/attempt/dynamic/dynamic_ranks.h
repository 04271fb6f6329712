// The ranks and hosts that come and go while the workers of an attempt run: ranks that MPI ranks spawn (Spawns), and
// ranks on hosts that join or leave an elastic job (ElasticJob). The attempt passes the news that may concern them
// here; its other parts know them only as a part of plan(). One thread: that of the loop.
#pragma once
#include "common/core/error.h"
#include "common/core/exit_status.h"
#include "common/plan/launch_plan.h"
#include "common/wire/messages.h"
#include "launcher/attempt/attempt_context.h"
#include "launcher/attempt/attempt_control.h"
#include "launcher/attempt/attempt_machine.h"
#include "launcher/attempt/dynamic/dynamic_hosts.h"
#include "launcher/attempt/dynamic/elastic_job.h"
#include "launcher/attempt/dynamic/plan_extension.h"
#include "launcher/attempt/dynamic/spawns.h"
#include "launcher/attempt/hosts/health_check_gate.h"
#include "launcher/attempt/hosts/host_readiness.h"
#include "launcher/attempt/rendezvous/rendezvous_setup.h"
#include "launcher/attempt/workers.h"
#include "launcher/fleet/fleet.h"

namespace sml::attempt {

class DynamicRanks {
 public:
  // The constructor uses the context and the terms alone, and the destructor nothing: the parts of the attempt may be
  // constructed after this and destroyed before it.
  struct Deps {
    const AttemptContext& context;
    AttemptControl& control;
    const AttemptMachine& machine;
    HealthCheckGate& health;
    HostReadiness& readiness;
    Workers& workers;
    RendezvousSetup& rendezvous;
    const Terms& terms;
  };
  DynamicRanks(const plan::LaunchPlan& planned, const Deps& deps);

  // The planned ranks and hosts, and behind them those that were added so far. Stays at its address when it grows.
  const plan::LaunchPlan& plan() const { return extension_.plan(); }
  ElasticJob& elastic() { return elastic_; }
  const ElasticJob& elastic() const { return elastic_; }

  // Whether the host waits here for its ranks. The next functions take the fleet's calls about any host; they return
  // true if the host waits here: then the attempt has nothing to do with it yet.
  bool holds(const fleet::Host& host) const { return hosts_.holds(host); }
  [[nodiscard]] bool introduced(fleet::Host& host) { return hosts_.introduced(host); }
  [[nodiscard]] bool prepared(fleet::Host& host, const wire::Prepared& m) { return hosts_.prepared(host, m); }
  [[nodiscard]] bool take(fleet::Host& host, const wire::ToLauncher& message) { return hosts_.take(host, message); }
  [[nodiscard]] bool ended(const fleet::Host& host, const Error* why) { return hosts_.ended(host, why); }

  // Call when a worker has ended or a host has been lost. Returns true if the caller need do nothing more about that:
  // as ElasticJob::outlives().
  [[nodiscard]] bool outlives(Rank rank, const ExitStatus& status, const Workers::End& end);
  [[nodiscard]] bool outlives(const fleet::Host& host, const Error& why) { return elastic_.outlives(host, why); }
  // Call when the session of any host has ended.
  void lost(const fleet::Host& host);
  // Call when the agent of a host waits: a host that is to come may have waited for that.
  void freed() { hosts_.freed(); }

  void handle(const fleet::Host& host, const wire::SpawnRequest& m) { spawns_.handle(host, m); }
  void handle(const fleet::Host& host, const wire::Added& m) { spawns_.handle(host, m); }
  void handle(const fleet::Host& host, const wire::HorovodNews& m) { elastic_.handle(host, m); }
  void handle(const fleet::Host& host, const wire::HorovodAnswer& m) { elastic_.handle(host, m); }

 private:
  PlanExtension extension_;
  DynamicHosts hosts_;
  Spawns spawns_;
  ElasticJob elastic_;
};

}  // namespace sml::attempt
