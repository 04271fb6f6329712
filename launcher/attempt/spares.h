// The hosts beside those of an attempt: spares, those that come while it goes on, and those that are out.
#pragma once
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "common/plan/job_map.h"
#include "launcher/attempt/attempt_machine.h"
#include "launcher/attempt/attempt_owner.h"
#include "launcher/attempt/health_gate.h"
#include "launcher/fleet/fleet.h"
#include "launcher/report/event_feed.h"

namespace sml::attempt {

class Spares final : public fleet::SpareListener {
 public:
  // All of it outlives this.
  struct Of {
    const plan::JobMap& map;
    const AttemptMachine& machine;
    HealthGate& health;
    fleet::Fleet& fleet;
    const report::EventFeed& events;
    AttemptOwner& owner;
    launch::Afterwards afterwards;
    std::function<launch::AgentSession::Plan(const plan::MappedHost& host)> plan;  // of one that is to wait
    std::function<void()> ended;                                                   // one has
  };
  explicit Spares(Of attempt) : of_(std::move(attempt)) {}

  // Some may wait already.
  void begin();

  // Hosts may come: another attempt may follow, and this one does not gather its own.
  bool may_come() const;
  // One that no plan has had, of the id that follows, or one of lost(): it is reached, and waits.
  void come(const plan::MappedHost& host);
  // Of those without workers in this attempt.
  std::vector<HostId> lost() const;
  // It waits, and nothing is wrong with it.
  bool is_ready(HostId id) const;

  void spare_message(fleet::Host& host, const wire::ToLauncher& message) override;
  void spare_step(const fleet::Host& host) override;
  void spare_waits(fleet::Host& host) override;
  void spare_ended(fleet::Host& host, const Error* why) override;

 private:
  // Nobody who hears of events knows the others yet.
  bool is_known(const fleet::Host& host) const { return host.index.value() < of_.map.hosts.size(); }
  void look_if_known_by_another_name(fleet::Host& host) const;
  void say_if_ready(const fleet::Host& host) const;

  Of of_;
  std::vector<plan::MappedHost> come_;  // that the plan does not have, ids ascending
};

// Why it cannot be used beside the others: of `map`, too, one is the same machine. Nothing: none is.
std::optional<Error> another_name(const fleet::Fleet& fleet, const plan::JobMap& map, const fleet::Host& host);

// That of any host.
report::HostConnected connected(const fleet::Host& host);

}  // namespace sml::attempt
