// Which hosts of an attempt are ready, which is prepared and well, have failed or were let go, and what people hear
// while they come.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/notice_pace.h"
#include "common/plan/launch_plan.h"
#include "launcher/attempt/attempt_owner.h"
#include "launcher/attempt/health_gate.h"
#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"
#include "launcher/report/event_feed.h"
#include "launcher/report/limit_differences.h"

namespace sml::attempt {

class Roster {
 public:
  // All of it outlives this; the fleet has its hosts.
  Roster(const fleet::Fleet& fleet, const plan::LaunchPlan& plan, const JobOptions& options, const HealthGate& health,
         const report::EventFeed& events, AttemptOwner& owner)
      : fleet_(fleet),
        plan_(plan),
        options_(options),
        health_(health),
        events_(events),
        owner_(owner),
        hosts_(fleet.hosts().size()) {}

  // The fleet has it since the workers run.
  void add(const fleet::Host& host) {
    hosts_.resize(std::max(hosts_.size(), host.position + 1));
    of(host) = {.prepared = true, .ready = true};
  }
  // Its agent runs.
  void greet(const fleet::Host& host);
  // It knows what to start, unless an obstacle is in the way; says what it has been told.
  void prepared(const fleet::Host& host, const wire::Prepared& message);
  // After that, and after news of its health: tells, once, that it is ready.
  void look_if_ready(const fleet::Host& host);
  void fail(const fleet::Host& host);
  // We let it go; its end is no news.
  void release(const fleet::Host& host) { of(host).released = true; }

  bool has_failed(const fleet::Host& host) const { return of(host).failed; }
  bool is_released(const fleet::Host& host) const { return of(host).released; }
  bool all_ready() const;
  bool all_settled() const;  // each is ready or has failed
  // What it is that it is not ready without.
  std::string awaited_step(const fleet::Host& host) const;
  // Those are awaited that are not ready; said from time to time.
  void say_whom_we_await();
  // They need not come any more: those that were neither ready nor had failed have failed now.
  std::vector<const fleet::Host*> fail_late();

 private:
  struct OfHost {
    bool prepared = false;
    bool ready = false;  // ... and well
    bool failed = false;
    bool released = false;
  };
  void compare_limits();
  OfHost& of(const fleet::Host& host) { return hosts_[host.position]; }
  const OfHost& of(const fleet::Host& host) const { return hosts_[host.position]; }

  const fleet::Fleet& fleet_;
  const plan::LaunchPlan& plan_;
  const JobOptions& options_;
  const HealthGate& health_;
  const report::EventFeed& events_;
  AttemptOwner& owner_;
  std::vector<OfHost> hosts_;               // by position in the fleet
  std::vector<report::HostLimits> limits_;  // of those that are prepared, until they have been compared
  bool told_of_secrets_ = false;
  bool told_of_silent_shells_ = false;
  NoticePace pace_{Clock::now()};  // of the lines about hosts that are awaited
};

}  // namespace sml::attempt
