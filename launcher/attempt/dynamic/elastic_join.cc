#include "launcher/attempt/dynamic/elastic_join.h"

#include <algorithm>
#include <span>
#include <utility>

#include "common/plan/ranks/spawn_map.h"
#include "launcher/attempt/dynamic/dynamic_plans.h"

namespace sml::attempt {

bool ElasticJoin::are_those(const std::vector<ElasticRounds::Next::Joining>& joining) const {
  const auto same = [](const ElasticRounds::Next::Joining& a, const ElasticRounds::Next::Joining& b) {
    return a.host == b.host && a.ranks == b.ranks;
  };
  return std::equal(joining.begin(), joining.end(), joining_.begin(), joining_.end(), same);
}

bool ElasticJoin::are_ready(const ElasticRounds::Next& next, std::function<void()> settled) {
  const auto is_ready = [this](const ElasticRounds::Next::Joining& one) { return deps_.late.is_ready(one.host); };
  if (are_those(next.joining) && std::all_of(joining_.begin(), joining_.end(), is_ready)) return true;
  let_go();
  joining_ = next.joining;
  if (joining_.empty()) return true;
  deps_.growth.add_hosts(next.map);
  reach(std::move(settled));
  return false;
}

void ElasticJoin::reach(std::function<void()> settled) {
  const std::vector<HostIndex> places = plan().map.places();
  world_ = {};
  world_.hosts = plan().map.hosts;
  for (plan::MappedHost& host : world_.hosts) host.ranks.clear();
  std::vector<HostIndex> hosts_of;
  for (const auto& one : joining_) hosts_of.insert(hosts_of.end(), one.ranks, places[one.host.value()]);
  plan::assign_ranks(world_, hosts_of);
  grown_ = plan();
  plan::add_world(grown_->map, world_, 0);
  for (const auto& one : joining_) grown_->map.hosts[places[one.host.value()].value()].duty = plan::HostDuty::Work;

  SessionSettings settings = settings_for(deps_.context.options, grown_->map);
  settings.output_window = first_output_window(grown_->map.hosts.size());
  std::vector<wire::AddWorkers> nobody;
  const Rank first(plan().map.world_size());
  std::vector<transport::AgentSession::Plan> plans;
  if (Result<void> kept = deps_.context.sink.complete(*grown_, first, nobody); !kept) {
    deps_.context.owner.print("hosts cannot join: " + kept.error().message());
    for (const auto& one : std::exchange(joining_, {})) unfit_.insert(one.host);
    return settled();
  }
  for (const auto& one : joining_) {
    plans.push_back(joining_plan(places[one.host.value()], *grown_, world_, settings));
    deps_.context.owner.complete(plans.back());
  }
  deps_.late.reach(std::move(plans), {}, [this, then = std::move(settled)] {
    if (const std::string why = deps_.late.why(); !why.empty() && deps_.machine.runs()) {
      unfit_.insert(deps_.late.root_cause());
      deps_.context.owner.print("the next round of hvd.elastic " + why + "; it does without");
    }
    then();
  });
}

// The first host cannot join again: it keeps the stores, which would go with its agent's state.
bool ElasticJoin::may_join(HostId id) const {
  if (is_unfit(id) || deps_.context.fleet.first().id == id) return false;
  const std::span<const fleet::Host> members = std::as_const(deps_.context.fleet).hosts();
  const auto host = std::find_if(members.begin(), members.end(), [id](const fleet::Host& h) { return h.id == id; });
  if (host == members.end() || host->lost) return false;
  return deps_.late.is_ready(id) || host->session->state() == transport::SessionState::Cleared;
}

std::vector<std::string> ElasticJoin::addresses(const ElasticRounds::Next& next) const {
  std::vector<std::string> out;
  for (const fleet::Host& host : std::as_const(deps_.context.fleet).hosts()) {
    const auto is_it = [&host](const ElasticRounds::Next::Joining& one) { return one.host == host.id; };
    if (std::none_of(next.joining.begin(), next.joining.end(), is_it)) continue;
    out.insert(out.end(), host.addresses.begin(), host.addresses.end());
    if (!host.session->contact().peer_address.empty()) out.push_back(host.session->contact().peer_address);
  }
  return out;
}

// The variables that give a worker its place in the round, as if all ranks had started that way.
std::vector<wire::RankVariables> ElasticJoin::variables(const fleet::Host& host, const plan::JobMap& round) const {
  const std::vector<Rank>& now = round.hosts[round.places()[host.id.value()].value()].ranks;
  const std::vector<Rank>& ranks = plan().map.hosts[host.index.value()].ranks;  // the new ranks are the last
  std::vector<wire::RankVariables> out;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const plan::RankAssignment& place = round.ranks[now[i].value()];
    out.push_back({ranks[ranks.size() - now.size() + i], plan::rank_environment(round, place, plan().job)});
  }
  return out;
}

void ElasticJoin::begin(const ElasticRounds::Next& next) {
  if (joining_.empty()) return;
  joining_.clear();
  plan::LaunchPlan grown = std::move(*std::exchange(grown_, std::nullopt));
  const std::vector<const fleet::Host*> come = deps_.late.begin(world_);
  deps_.growth.begin(std::move(grown), come, std::nullopt);
  for (fleet::Host& host : deps_.context.fleet.hosts()) {
    if (std::find(come.begin(), come.end(), &host) == come.end()) continue;
    deps_.rendezvous.start_workers(host, variables(host, next.map), deps_.afterwards);
  }
}

void ElasticJoin::let_go() {
  joining_.clear();
  deps_.late.let_go();
}

}  // namespace sml::attempt
