// The hosts besides those of an attempt: spare hosts, hosts that come while it runs, and hosts that are out.
#pragma once
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "common/plan/ranks/job_map.h"
#include "launcher/attempt/attempt_machine.h"
#include "launcher/attempt/attempt_owner.h"
#include "launcher/attempt/hosts/health_check_gate.h"
#include "launcher/fleet/fleet.h"
#include "launcher/report/events/event_feed.h"

namespace sml::attempt {

class SpareHosts final : public fleet::SpareListener {
 public:
  // Everything here outlives this.
  struct Deps {
    const plan::JobMap& map;
    const AttemptMachine& machine;
    HealthCheckGate& health;
    fleet::Fleet& fleet;
    const report::EventFeed& events;
    AttemptOwner& owner;
    transport::Afterwards afterwards;
    // the session plan of a host that is to wait
    std::function<transport::AgentSession::Plan(const plan::MappedHost& host)> plan;
    std::function<void()> ended;  // called when such a host has ended
  };
  explicit SpareHosts(Deps attempt) : deps_(std::move(attempt)) {}

  // Begins with spare hosts that may wait already.
  void begin();

  // Whether hosts may come: another attempt may follow, and this one is not still gathering its own hosts.
  bool may_come() const;
  // Reaches a host, which then waits: one that no plan has had, with the next id, or one of lost().
  void come(const plan::MappedHost& host);
  // Lost hosts among those without workers in this attempt.
  std::vector<HostId> lost() const;
  // Whether the host waits and nothing is wrong with it.
  bool is_ready(HostId id) const;

  void spare_message(fleet::Host& host, const wire::ToLauncher& message) override;
  void spare_step(const fleet::Host& host) override;
  void spare_waits(fleet::Host& host) override;
  void spare_ended(fleet::Host& host, const Error* why) override;

 private:
  // Event listeners do not know the other hosts yet.
  bool is_known(const fleet::Host& host) const { return host.index.value() < deps_.map.hosts.size(); }
  void look_if_known_by_another_name(fleet::Host& host) const;
  void say_if_ready(const fleet::Host& host) const;

  Deps deps_;
  std::vector<plan::MappedHost> come_;  // hosts that the plan does not have, ids ascending
};

// Why the host cannot be used beside the others, including those of `map`: one of them is the same machine. nullopt:
// none is.
std::optional<Error> another_name(const fleet::Fleet& fleet, const plan::JobMap& map, const fleet::Host& host);

// The event for any connected host.
report::HostConnected connected(const fleet::Host& host);

}  // namespace sml::attempt
