#include "launcher/attempt/spawns.h"

#include <algorithm>
#include <utility>

#include "common/core/text.h"
#include "common/plan/spawn_map.h"
#include "launcher/launch/session_machine.h"

namespace sml::attempt {

namespace {

constexpr std::size_t kLongestName = 500;

// A wish that comes too late is answered by the end of who has it.
bool takes_workers(const fleet::Host& host) { return host.session->state() == launch::SessionState::Running; }

}  // namespace

void Spawns::ask(const fleet::Host&, wire::SpawnWish wish) {
  wishes_.push_back(std::move(wish));
  next();
}

void Spawns::next() {
  while (!pending_ && !wishes_.empty()) {
    if (Result<void> begun = begin(wishes_.front()); !begun) {
      answer(wishes_.front(), begun.error().message());
      wishes_.pop_front();
    }
  }
}

// Of hosts whose workers run: on others there is nobody to take more, or they are about to leave.
plan::FreeSlots Spawns::free_slots() const {
  const plan::JobMap& map = around_.plan.map;
  const RankTable& table = around_.workers.table();
  plan::FreeSlots out(map.hosts.size());
  for (const fleet::Host& host : std::as_const(around_.fleet).hosts()) {
    const plan::MappedHost& mapped = map.hosts[host.index.value()];
    const auto living = static_cast<std::uint32_t>(std::count_if(
        mapped.ranks.begin(), mapped.ranks.end(), [&table](Rank rank) { return !table.has_ended(rank); }));
    if (takes_workers(host) && living > 0) out[host.index.value()] = mapped.slots - std::min(mapped.slots, living);
  }
  return out;
}

Result<void> Spawns::begin(const wire::SpawnWish& wish) {
  const plan::LaunchPlan& plan = around_.plan;
  if (!around_.run()) return Error(ErrorKind::Lost, "is being ended");
  if (plan.calls) {
    return Error(ErrorKind::Config,
                 "is on hosts that call the launcher, and these run only what they were started with");
  }
  Result<plan::JobMap> world = plan::map_spawn(plan.map, free_slots(), wish.programs, plan.oversubscribe);
  if (!world) return world.error();
  Pending& pending = pending_.emplace(Pending{std::move(*world), plan, {}, {}});
  plan::LaunchPlan& grown = pending.grown;
  const auto first_program = static_cast<std::uint32_t>(plan.program_count());
  for (plan::Program& program : spawned_programs(plan, wish.from, wish.programs)) {
    grown.more_programs.push_back(std::move(program));
    if (!grown.map.roles.empty()) grown.map.roles.emplace_back("default");
  }
  plan::add_world(grown.map, pending.world, first_program);
  // By PMIx ranks of every host may meet the new ones, and its library there is to know them.
  const auto place = [&](HostIndex index) -> std::optional<AgentPlace> {
    const std::span<const fleet::Host> hosts = std::as_const(around_.fleet).hosts();
    const auto host =
        std::find_if(hosts.begin(), hosts.end(), [index](const fleet::Host& one) { return one.index == index; });
    const bool has_some = !pending.world.hosts[index.value()].ranks.empty();
    const bool is_told =
        has_some || (wish.service == wire::WireUp::Pmix && host != hosts.end() && takes_workers(*host));
    if (!is_told || host == hosts.end()) return std::nullopt;
    return host->session->contact().is_local ? AgentPlace::ThisMachine : AgentPlace::Remote;
  };
  AddedWorld added = added_world(grown, pending.world, around_.settings(), place);
  const Rank first(plan.map.world_size());
  if (Result<void> kept = around_.sink.complete(grown, first, added.messages); !kept) {
    pending_.reset();
    return kept;
  }
  pending.awaited.insert(added.hosts.begin(), added.hosts.end());
  for (std::size_t i = 0; i < added.hosts.size(); ++i) {
    added.messages[i].service = wish.service;
    added.messages[i].keys = wish.keys;
    around_.fleet.tell(added.hosts[i], added.messages[i]);
  }
  return {};
}

void Spawns::note(const fleet::Host& host, const wire::Added& m) {
  if (!pending_ || pending_->awaited.erase(host.index) == 0) return;
  const bool has_some = !pending_->world.hosts[host.index.value()].ranks.empty();  // else its workers may have ended
  if (!m.obstacles.empty() && pending_->why.empty() && has_some) {
    pending_->why = "wants what " + host.name() + " cannot start: " + show(m.obstacles.front().message, kLongestName);
  }
  look();
}

void Spawns::lost(const fleet::Host& host) {
  if (!pending_ || pending_->awaited.erase(host.index) == 0) return;
  if (!pending_->world.hosts[host.index.value()].ranks.empty()) {
    pending_->why = "wants ranks on " + host.name() + ", which is there no more";
  }
  look();
}

void Spawns::look() {
  if (!pending_->awaited.empty()) return;
  if (pending_->why.empty() && !around_.run()) pending_->why = "is being ended";
  const wire::SpawnWish wish = std::move(wishes_.front());
  wishes_.pop_front();
  wire::StartAdded order{.attempt = around_.plan.job.attempt + 1,
                         .first = Rank(around_.plan.map.world_size()),
                         .go = pending_->why.empty() ? wire::Go::Yes : wire::Go::No,
                         .ranks = pending_->grown.map.world_size()};
  const std::string why = pending_->why;
  if (why.empty()) start(wish);
  pending_.reset();
  around_.fleet.tell_all(order);
  answer(wish, why);
  next();
}

void Spawns::start(const wire::SpawnWish& wish) {
  const Rank first(around_.plan.map.world_size());
  if (!planned_) planned_ = around_.plan;
  around_.plan = std::move(pending_->grown);
  around_.workers.grow(around_.plan);
  around_.sink.add_workers(around_.plan, first);
  around_.events.tell(report::RanksSpawned{&around_.plan, wish.from, first});
}

void Spawns::answer(const wire::SpawnWish& wish, const std::string& why) {
  const HostIndex host = around_.plan.map.ranks[wish.from.value()].host;
  if (!why.empty()) {
    around_.owner.say("rank " + std::to_string(wish.from.value()) + " on " +
                      around_.plan.map.hosts[host.value()].host.name + ": MPI_Comm_spawn starts nothing: it " + why);
  }
  around_.fleet.tell(host, wire::SpawnAnswer{.attempt = around_.plan.job.attempt + 1,
                                             .service = wish.service,
                                             .to = wish.from,
                                             .call = wish.call,
                                             .why = why});
}

}  // namespace sml::attempt
