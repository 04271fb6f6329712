// Records which hosts of an attempt are ready (prepared and healthy), have failed, or were released, and prints what
// the user sees meanwhile. It ends no session.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/plan/launch_plan.h"
#include "launcher/attempt/attempt_owner.h"
#include "launcher/attempt/hosts/health_check_gate.h"
#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"
#include "launcher/output/notice_pace.h"
#include "launcher/report/events/event_feed.h"
#include "launcher/report/hosts/limit_differences.h"

namespace sml::attempt {

class HostReadiness {
 public:
  // The arguments outlive this; the fleet has its hosts already.
  HostReadiness(const fleet::Fleet& fleet, const plan::LaunchPlan& plan, const JobOptions& options,
                const HealthCheckGate& health, const report::EventFeed& events, AttemptOwner& owner)
      : fleet_(fleet), plan_(plan), options_(options), health_(health), events_(events), owner_(owner) {
    for (const fleet::Host& host : fleet.hosts()) hosts_[host.id] = {};
  }

  // Adds a host that joined the fleet while the workers run. It counts as ready: the attempt does not wait for it.
  void add(const fleet::Host& host) { of(host) = {.prepared = true, .ready = true}; }
  // Call when the host's agent runs. Prints, once, the names of secrets that hosts do not receive.
  void greet(const fleet::Host& host);
  // Takes the host's reply to Prepare: the host is prepared if it has reported no preflight error. Prints its bindings
  // and warnings.
  void prepared(const fleet::Host& host, const wire::Prepared& message);
  // Call after prepared() and after news of the host's health: reports, once, that the host is ready.
  void look_if_ready(const fleet::Host& host);
  // Marks the host as failed; does not report it.
  void fail(const fleet::Host& host);
  // Marks the host as released by the launcher; its end needs no report.
  void release(const fleet::Host& host) { of(host).released = true; }

  bool has_failed(const fleet::Host& host) const { return of(host).failed; }
  bool is_released(const fleet::Host& host) const { return of(host).released; }
  bool all_ready() const;
  bool all_settled() const;  // each host is ready or has failed
  // The step that the host still needs to be ready, as words for the user.
  std::string awaited_step(const fleet::Host& host) const;
  // Prints which hosts are not ready, if it is time for such a line again.
  void say_whom_we_await();
  // Call when the start timeout has passed: marks the hosts that are neither ready nor failed as failed, and returns
  // them.
  std::vector<const fleet::Host*> fail_late();

 private:
  struct OfHost {
    bool prepared = false;
    bool ready = false;  // prepared and healthy
    bool failed = false;
    bool released = false;
  };
  void compare_limits();
  OfHost& of(const fleet::Host& host) { return hosts_[host.id]; }
  const OfHost& of(const fleet::Host& host) const { return hosts_.at(host.id); }

  const fleet::Fleet& fleet_;
  const plan::LaunchPlan& plan_;
  const JobOptions& options_;
  const HealthCheckGate& health_;
  const report::EventFeed& events_;
  AttemptOwner& owner_;
  std::map<HostId, OfHost> hosts_;          // hosts with workers
  std::vector<report::HostLimits> limits_;  // of the prepared hosts, until they have been compared
  bool told_of_secrets_ = false;
  bool told_of_silent_shells_ = false;
  NoticePace pace_{Clock::now()};  // of the lines about hosts that are awaited
};

}  // namespace sml::attempt
