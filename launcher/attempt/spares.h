// The hosts beside those of an attempt: spares, and those that are out.
#pragma once
#include <functional>
#include <span>
#include <utility>

#include "launcher/attempt/attempt_machine.h"
#include "launcher/attempt/attempt_owner.h"
#include "launcher/attempt/health_gate.h"
#include "launcher/fleet/fleet.h"
#include "launcher/report/event_feed.h"

namespace sml::attempt {

class Spares final : public fleet::SpareListener {
 public:
  // All but `ended`, which is called when one has, outlives this.
  Spares(const AttemptMachine& machine, HealthGate& health, const report::EventFeed& events, AttemptOwner& owner,
         std::function<void()> ended)
      : machine_(machine), health_(health), events_(events), owner_(owner), ended_(std::move(ended)) {}

  // These are beside the attempt; some may wait already.
  void begin(std::span<fleet::Host> others);

  void spare_message(fleet::Host& host, const wire::ToLauncher& message) override;
  void spare_step(const fleet::Host& host) override;
  void spare_waits(fleet::Host& host) override;
  void spare_ended(fleet::Host& host, const Error* why) override;

 private:
  const AttemptMachine& machine_;
  HealthGate& health_;
  const report::EventFeed& events_;
  AttemptOwner& owner_;
  std::function<void()> ended_;
};

// That of any host.
report::HostConnected connected(const fleet::Host& host, const wire::HelloAck& hello);

}  // namespace sml::attempt
