#include "launcher/attempt/hosts/spare_hosts.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "launcher/attempt/session_plans.h"

namespace sml::attempt {

report::HostConnected connected(const fleet::Host& host) {
  const auto place = host.session->contact().is_local ? report::HostPlace::ThisMachine : report::HostPlace::Remote;
  return {host.id, place, host.session->contact().peer_address, host.agent_pid};
}

std::optional<Error> another_name(const fleet::Fleet& fleet, const plan::JobMap& map, const fleet::Host& host) {
  for (const hosts::MachineNames& names : fleet.machines(map)) {
    const auto is_another = [&](const std::string& name) { return name != host.name(); };
    if (std::all_of(names.begin(), names.end(), is_another)) continue;
    const auto other = std::find_if(names.begin(), names.end(), is_another);
    return Error(ErrorKind::Usage, "is the same machine as " + (other == names.end() ? host.name() : *other));
  }
  return std::nullopt;
}

void SpareHosts::begin() {
  for (fleet::Host& host : deps_.context.fleet.others()) {
    if (host.session->state() == transport::SessionState::Cleared && !host.lost) deps_.health.ask(host);
  }
}

bool SpareHosts::may_come() const {
  const AttemptState state = deps_.machine.state();
  const bool goes_on = state == AttemptState::Running || state == AttemptState::Cleared;
  return goes_on && deps_.afterwards == transport::Afterwards::Stay;
}

void SpareHosts::come(const plan::MappedHost& host) {
  const bool is_new = come_.empty() || host.id > come_.back().id;
  if (is_new && host.id.value() >= deps_.plan.map.hosts.size()) come_.push_back(host);
  const SessionSettings settings = settings_for(deps_.context.options, deps_.plan.map);
  deps_.context.fleet.add_spare(host.host, spare_plan(host, deps_.plan, settings));
  deps_.context.fleet.start();
}

std::vector<HostId> SpareHosts::lost() const {
  std::vector<HostId> out;
  if (deps_.context.fleet.lost_workers_end())
    return out;  // reaching the host again would forget that its lost workers still end
  for (const fleet::Host& host : deps_.context.fleet.others()) {
    if (host.lost && !host.is_other_name && host.session->ended()) out.push_back(host.id);
  }
  return out;
}

bool SpareHosts::is_ready(HostId id) const {
  const std::span<fleet::Host> others = deps_.context.fleet.others();
  return std::any_of(others.begin(), others.end(), [&](const fleet::Host& host) {
    const bool waits = !host.lost && host.session->state() == transport::SessionState::Cleared;
    return host.id == id && waits && deps_.health.passed(host);
  });
}

// The run relies on its hosts being distinct machines.
void SpareHosts::look_if_known_by_another_name(fleet::Host& host) const {
  plan::JobMap all;
  all.hosts = deps_.plan.map.hosts;
  for (const plan::MappedHost& other : come_) {
    if (other.id.value() >= all.hosts.size()) all.hosts.push_back(other);
  }
  if (std::optional<Error> same = another_name(deps_.context.fleet, all, host)) host.session->abandon(std::move(*same));
}

void SpareHosts::spare_message(fleet::Host& host, const wire::ToLauncher& message) {
  if (std::holds_alternative<wire::HelloAck>(message)) {
    if (is_known(host)) deps_.context.events.publish(connected(host));
    if (may_come()) return look_if_known_by_another_name(host);
  }
  const auto* answer = std::get_if<wire::Health>(&message);
  const std::optional<Result<void>> news = answer != nullptr ? deps_.health.note(host, *answer) : std::nullopt;
  if (!news) return;
  if (!*news) return host.session->abandon(news->error());
  say_if_ready(host);
}

// The user waits for hosts that were added.
void SpareHosts::say_if_ready(const fleet::Host& host) const {
  if (!is_known(host) && is_ready(host.id)) deps_.context.owner.print(host.name() + " is ready, for the next restart");
}

void SpareHosts::spare_step(const fleet::Host& host) {
  if (is_known(host)) deps_.context.events.publish(report::HostStep{host.id, host.session->step()});
}

void SpareHosts::spare_waits(fleet::Host& host) {
  if (is_known(host)) deps_.context.events.publish(report::HostReady{host.id});
  deps_.health.ask(host);
  say_if_ready(host);
}

// The attempt goes on without the host.
void SpareHosts::spare_ended(fleet::Host& host, const Error* why) {
  const AttemptState state = deps_.machine.state();
  const bool over = state == AttemptState::Leaving || state == AttemptState::Finished;
  if (host.is_other_name) return deps_.control.look_for_end();
  const bool fails = why != nullptr && !over;
  if (fails) deps_.context.owner.print("the spare host " + host.name() + " is out: " + why->text());
  if (is_known(host) && fails) deps_.context.events.publish(report::HostFailed{host.id, *why});
  if (is_known(host) && !fails) deps_.context.events.publish(report::HostEnded{host.id});
  deps_.control.look_for_end();
}

}  // namespace sml::attempt
