// The hosts that have no workers in an attempt: spare hosts, hosts that come while it runs, and hosts that are out
// since an earlier attempt. They wait for the next attempt; the loss of one does not end this attempt.
#pragma once
#include <optional>
#include <vector>

#include "common/plan/launch_plan.h"
#include "launcher/attempt/attempt_context.h"
#include "launcher/attempt/attempt_control.h"
#include "launcher/attempt/attempt_machine.h"
#include "launcher/attempt/hosts/health_check_gate.h"
#include "launcher/fleet/fleet.h"
#include "launcher/report/events/event_feed.h"

namespace sml::attempt {

class SpareHosts final : public fleet::SpareListener {
 public:
  // Everything here outlives this.
  struct Deps {
    const AttemptContext& context;
    AttemptControl& control;
    const plan::LaunchPlan& plan;
    const AttemptMachine& machine;
    HealthCheckGate& health;
    transport::Afterwards afterwards;
  };
  explicit SpareHosts(Deps deps) : deps_(deps) {}

  // Call when the attempt begins: asks the spare hosts that wait already for their health.
  void begin();

  // Whether hosts may come: another attempt may follow, and this one is not still gathering its own hosts.
  bool may_come() const;
  // Starts an agent on the host, which then waits. `host`: one that no plan has had, with the next free id, or one of
  // lost().
  void come(const plan::MappedHost& host);
  // The lost hosts here that come() may reach again; empty while workers on a lost host may still run.
  std::vector<HostId> lost() const;
  // Whether the host waits and is healthy.
  bool is_ready(HostId id) const;

  void spare_message(fleet::Host& host, const wire::ToLauncher& message) override;
  void spare_step(const fleet::Host& host) override;
  void spare_waits(fleet::Host& host) override;
  void spare_ended(fleet::Host& host, const Error* why) override;

 private:
  // Whether the host is in the plan: event listeners do not know others yet.
  bool is_known(const fleet::Host& host) const { return host.id.value() < deps_.plan.map.hosts.size(); }
  void look_if_known_by_another_name(fleet::Host& host) const;
  void say_if_ready(const fleet::Host& host) const;

  Deps deps_;
  std::vector<plan::MappedHost> come_;  // hosts that the plan does not have, ids ascending
};

// The error if `host` is the same machine as another host of the fleet or of `map`, so that the job cannot use both.
// nullopt: it is not.
std::optional<Error> another_name(const fleet::Fleet& fleet, const plan::JobMap& map, const fleet::Host& host);

// Returns the event that a host has connected.
report::HostConnected connected(const fleet::Host& host);

}  // namespace sml::attempt
