#include "launcher/attempt/dynamic/dynamic_hosts.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include <boost/asio/post.hpp>

#include "common/core/text.h"
#include "launcher/attempt/hosts/spare_hosts.h"

namespace sml::attempt {

namespace {

constexpr std::size_t kLongestReason = 500;

// Whether the host can be started.
bool is_free(const fleet::Host* host) {
  return host == nullptr || host->session->ended() || host->session->state() == transport::SessionState::Cleared;
}

}  // namespace

DynamicHosts::Late* DynamicHosts::find(HostId id) {
  const auto found = std::find_if(hosts_.begin(), hosts_.end(), [id](const Late& late) { return late.id == id; });
  return found == hosts_.end() ? nullptr : &*found;
}

bool DynamicHosts::is_ready(HostId id) const {
  return std::any_of(hosts_.begin(), hosts_.end(),
                     [id](const Late& late) { return late.id == id && late.step == Step::Ready; });
}

bool DynamicHosts::holds(const fleet::Host& host) const {
  return std::any_of(hosts_.begin(), hosts_.end(),
                     [&host](const Late& late) { return late.id == host.id && late.step != Step::Away; });
}

// ---- hosts come

void DynamicHosts::reach(std::vector<transport::AgentSession::Plan> hosts, std::vector<wire::AddWorkers> worlds,
                         std::function<void()> settled) {
  reaching_ = true;
  settled_ = std::move(settled);
  worlds_ = std::move(worlds);
  for (transport::AgentSession::Plan& plan : hosts) {
    Late* late = find(plan.host);
    if (late == nullptr) late = &hosts_.emplace_back(Late{.id = plan.host, .name = plan.name});
    late->next = std::move(plan);
  }
  timer_.expires_after(deps_.context.options.start_timeout);
  timer_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    if (!error && !alive.expired()) time_out();
  });
  set_out_soon();
}

// Posted to the loop: a session must not be replaced from within its own callback.
void DynamicHosts::set_out_soon() {
  const auto waits = [](const Late& late) { return late.next.has_value(); };
  if (std::none_of(hosts_.begin(), hosts_.end(), waits)) return;
  boost::asio::post(deps_.context.loop, [this, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired() && reaching_ && deps_.machine.runs()) set_out();
  });
}

void DynamicHosts::set_out() {
  for (Late& late : hosts_) {
    if (!late.next || !is_free(deps_.context.fleet.find(late.id))) continue;
    const bool has_workers = !late.next->prepare(transport::AgentPlace::Remote).workers.empty();
    late = {.id = late.id,
            .name = late.name,
            .step = Step::Coming,
            .next = std::move(late.next),
            .has_workers = has_workers};
    deps_.context.fleet.add(*std::exchange(late.next, std::nullopt));
    const fleet::Host& host = *deps_.context.fleet.find(late.id);
    deps_.readiness.add(host);
    deps_.workers.add(host, deps_.plan.map.hosts.size());
  }
  deps_.context.fleet.start();
  for (Late& late : hosts_) {  // an agent that has waited
    fleet::Host* host = deps_.context.fleet.find(late.id);
    if (late.step == Step::Coming && host->runs()) deps_.health.ask(*host);
  }
}

bool DynamicHosts::introduced(fleet::Host& host) {
  if (!holds(host)) return false;
  deps_.workers.greet(host);
  deps_.readiness.greet(host);
  deps_.health.ask(host);
  return true;
}

bool DynamicHosts::prepared(fleet::Host& host, const wire::Prepared& message) {
  if (!holds(host)) return false;
  Late& late = *find(host.id);
  if (late.step != Step::Coming) return true;
  if (!message.errors.empty()) {
    fail(late, "wants what " + late.name + " cannot start: " + show(message.errors.front().message, kLongestReason));
    return true;
  }
  deps_.readiness.prepared(host, message);
  late.prepared = true;
  look(host, late);
  return true;
}

void DynamicHosts::look(fleet::Host& host, Late& late) {
  if (late.step != Step::Coming || !late.prepared || !deps_.health.passed(host) || !deps_.machine.runs()) return;
  late.step = Step::Learning;
  if (!late.has_workers) deps_.rendezvous.start_workers(host, {}, deps_.afterwards);
  learn(host, late);
}

// One world after the other: an agent takes the next only after its reply to the previous one.
void DynamicHosts::learn(fleet::Host& host, Late& late) {
  if (late.learnt < worlds_.size()) return host.session->send(worlds_[late.learnt]);
  late.step = Step::Ready;
  settle();
}

void DynamicHosts::learnt(fleet::Host& host, Late& late, const wire::Added& m) {
  const wire::AddWorkers& world = worlds_[late.learnt++];
  if (!m.errors.empty()) {
    return fail(late, "wants what " + late.name + " cannot start: " + show(m.errors.front().message, kLongestReason));
  }
  host.session->send(wire::StartAdded{.attempt = world.attempt,
                                      .first = world.first,
                                      .go = wire::Go::Yes,
                                      .ranks = world.first.value() + world.shape.size()});
  learn(host, late);
}

bool DynamicHosts::take(fleet::Host& host, const wire::ToLauncher& message) {
  if (!holds(host)) return false;
  Late* late = find(host.id);
  if (std::holds_alternative<wire::HelloAck>(message)) {
    if (std::optional<Error> same = another_name(deps_.context.fleet, deps_.plan.map, host)) {
      host.session->abandon(std::move(*same));
    }
    return true;
  }
  if (const auto* health = std::get_if<wire::Health>(&message)) {
    const std::optional<Result<void>> news = deps_.health.note(host, *health);
    if (news && !*news) host.session->abandon(news->error());
    if (news && *news) look(host, *late);
    return true;
  }
  if (const auto* added = std::get_if<wire::Added>(&message)) {
    if (late->step == Step::Ready) return false;
    if (late->step == Step::Learning) learnt(host, *late, *added);
    return true;
  }
  if (const auto* bye = std::get_if<wire::Bye>(&message)) {
    late->last_word = bye->reason;
    return true;
  }
  if (!std::holds_alternative<wire::Cleared>(message)) return false;
  if (late->step != Step::Going) fail(*late, "wants ranks on " + late->name + ", which has ended its work");
  set_out_soon();
  return true;
}

// ---- hosts fail or are not wanted

bool DynamicHosts::ended(const fleet::Host& host, const Error* why) {
  if (!holds(host)) return false;
  Late* late = find(host.id);
  if (std::exchange(late->step, Step::Away) == Step::Going) {
    if (!late->next) std::erase_if(hosts_, [&host](const Late& one) { return one.id == host.id; });
    set_out_soon();
    return true;
  }
  const std::string reason = why != nullptr ? why->message() : "its agent has left: " + show(late->last_word);
  if (deps_.machine.runs()) failed_.insert(host.id);
  fail(*late, "wants ranks on " + late->name + ", which cannot have them: " + reason);
  return true;
}

void DynamicHosts::fail(Late& late, const std::string& why) {
  if (reaching_ && why_.empty()) {
    why_ = why;
    failed_host_ = late.id;
  }
  drop(late);
  settle();
}

// Works in any step.
void DynamicHosts::drop(Late& late) {
  late.next.reset();
  if (late.step == Step::Away || std::exchange(late.step, Step::Going) == Step::Going) return;
  deps_.context.fleet.find(late.id)->session->let_go({SIGTERM, 0}, deps_.afterwards);
}

void DynamicHosts::settle() {
  const auto is_awaited = [](const Late& late) {
    return late.next || late.step == Step::Coming || late.step == Step::Learning;
  };
  if (!reaching_ || (why_.empty() && std::any_of(hosts_.begin(), hosts_.end(), is_awaited))) return;
  reaching_ = false;
  timer_.cancel();
  boost::asio::post(deps_.context.loop, [this, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.expired()) return;
    if (const auto settled = std::exchange(settled_, nullptr)) settled();  // it may set the next one
  });
}

void DynamicHosts::time_out() {
  const auto late = std::find_if(hosts_.begin(), hosts_.end(), [](const Late& one) {
    return one.next || one.step == Step::Coming || one.step == Step::Learning;
  });
  if (late == hosts_.end()) return;
  const fleet::Host* host = deps_.context.fleet.find(late->id);
  const std::string step = host == nullptr ? "waiting for its turn" : host->session->awaited();
  failed_.insert(late->id);
  fail(*late, "wants ranks on " + late->name +
                  ", which cannot have them: " + fleet::not_ready(deps_.context.options.start_timeout, step).message());
}

void DynamicHosts::let_go() {
  reaching_ = false;
  why_.clear();
  for (Late& late : hosts_) drop(late);
  std::erase_if(hosts_, [](const Late& late) { return late.step == Step::Away; });
}

std::vector<const fleet::Host*> DynamicHosts::begin(const plan::JobMap& world) {
  std::vector<const fleet::Host*> out;
  for (const plan::MappedHost& host : world.hosts) {
    if (!host.ranks.empty() && is_ready(host.id)) out.push_back(deps_.context.fleet.find(host.id));
  }
  const auto begins = [&out](const Late& late) {
    return std::any_of(out.begin(), out.end(), [&late](const fleet::Host* host) { return host->id == late.id; });
  };
  std::erase_if(hosts_, begins);
  let_go();
  return out;
}

}  // namespace sml::attempt
