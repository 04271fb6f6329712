#include "launcher/attempt/dynamic/spawns.h"

#include <algorithm>
#include <utility>

#include "common/core/text.h"
#include "common/plan/ranks/spawn_map.h"
#include "launcher/attempt/dynamic/dynamic_plans.h"
#include "launcher/transport/session/session_machine.h"

namespace sml::attempt {

namespace {

constexpr std::size_t kLongestName = 500;

// A request that comes too late needs no reply: its rank is being ended.
bool takes_workers(const fleet::Host& host) { return host.session->state() == transport::SessionState::Running; }

}  // namespace

void Spawns::handle(const fleet::Host&, const wire::SpawnRequest& m) {
  requests_.push_back(m);
  next();
}

void Spawns::next() {
  while (!pending_ && !reaching_ && !requests_.empty()) {
    if (Result<void> begun = begin(requests_.front()); !begun) give_up(begun.error().message());
  }
}

// Gives up the first request.
void Spawns::give_up(const std::string& why) {
  deps_.late.let_go();
  answer(requests_.front(), why);
  requests_.pop_front();
}

// ---- placement

// The number of its ranks that have not ended.
std::uint32_t Spawns::living(const plan::MappedHost& host) const {
  const RankTable& table = deps_.workers.table();
  const auto lives = [&table](Rank rank) { return !table.has_ended(rank); };
  return static_cast<std::uint32_t>(std::count_if(host.ranks.begin(), host.ranks.end(), lives));
}

// Hosts whose workers have ended are about to leave and count as idle. Rank 0's host does not come again: it keeps the
// stores, and once it has gone no other host can come.
plan::SpawnRoom Spawns::room() const {
  const plan::JobMap& map = plan().map;
  plan::SpawnRoom out{plan::FreeSlots(map.hosts.size()), plan::FreeSlots(map.hosts.size())};
  const std::vector<HostId> lost = deps_.context.fleet.lost();
  for (std::size_t h = 0; h < map.hosts.size(); ++h) {
    const plan::MappedHost& host = map.hosts[h];
    const bool can_come = !deps_.rendezvous.has_released() && host.duty == plan::HostDuty::Work && host.slots > 0 &&
                          deps_.late.may_come(host.id) && host.id != deps_.context.fleet.first().id &&
                          std::find(lost.begin(), lost.end(), host.id) == lost.end();
    if (can_come) out.idle[h] = host.slots;
  }
  for (const fleet::Host& host : std::as_const(deps_.context.fleet).hosts()) {
    const std::size_t h = host.index.value();
    const plan::MappedHost& mapped = map.hosts[h];
    const std::uint32_t ranks = living(mapped);
    if (!takes_workers(host) || (ranks == 0 && !deps_.late.is_ready(host.id))) continue;
    out.running[h] = mapped.slots - std::min(mapped.slots, ranks);
    out.idle[h].reset();
  }
  return out;
}

SessionSettings Spawns::settings() const { return settings_for(deps_.context.options, plan().map); }

Spawns::Pending Spawns::plan_for(const wire::SpawnRequest& request, plan::JobMap world) const {
  const plan::LaunchPlan& plan = deps_.growth.plan();
  Pending out{std::move(world), plan};
  const auto first_program = static_cast<std::uint32_t>(plan.program_count());
  for (plan::Program& program : spawned_programs(plan, request.from, request.programs)) {
    out.grown.more_programs.push_back(std::move(program));
    if (!out.grown.map.roles.empty()) out.grown.map.roles.emplace_back("default");
  }
  plan::add_world(out.grown.map, out.world, first_program);
  return out;
}

Result<void> Spawns::begin(const wire::SpawnRequest& request) {
  const plan::LaunchPlan& plan = deps_.growth.plan();
  if (!deps_.machine.runs()) return Error(ErrorKind::Lost, "is being ended");
  if (deps_.workers.table().has_ended(request.from)) return Error(ErrorKind::Lost, "has ended");
  if (is_elastic(deps_.context.options, plan)) {
    return Error(ErrorKind::Config, "belongs to an elastic job (--elastic), and these have no ranks but their own");
  }
  if (plan.calls) {
    return Error(ErrorKind::Config,
                 "is on hosts that call each other (--nnodes, --head), where MPI_Comm_spawn is not available");
  }
  const plan::SpawnRoom room = this->room();
  Result<plan::JobMap> world = plan::map_spawn(plan.map, room, request.programs, plan.oversubscribe);
  if (!world) return world.error();
  Pending pending = plan_for(request, std::move(*world));
  std::vector<HostIndex> idle;
  for (std::uint32_t h = 0; h < room.running.size(); ++h) {
    if (!room.running[h] && !pending.world.hosts[h].ranks.empty()) idle.emplace_back(h);
  }
  if (idle.empty()) return ask_hosts(request, std::move(pending));
  reach(request, pending.grown, idle);
  return {};
}

// ---- idle hosts

// With PMIx, a host that comes must know the other worlds: its ranks may connect to ranks of any of them.
void Spawns::reach(const wire::SpawnRequest& request, const plan::LaunchPlan& grown,
                   const std::vector<HostIndex>& hosts) {
  const RankTable& table = deps_.workers.table();
  const auto has_ended = [&table](const wire::AddWorkers& world) {
    bool out = true;
    for (std::uint32_t r = 0; r < world.shape.size(); ++r) out = out && table.has_ended(Rank(world.first.value() + r));
    return out;
  };
  std::erase_if(worlds_, has_ended);
  SessionSettings settings = this->settings();
  settings.output_window = first_output_window(grown.map.hosts.size());
  std::vector<transport::AgentSession::Plan> plans;
  std::vector<std::string> names;
  for (const HostIndex host : hosts) {
    plans.push_back(late_plan(host, grown, Rank(plan().map.world_size()), settings, request.service));
    deps_.context.owner.complete(plans.back());
    names.push_back(plans.back().name);
  }
  if (deps_.context.options.verbosity == Verbosity::Verbose) {
    deps_.context.owner.print("reaching " + fold_names(names) + ", which is to have ranks that are spawned");
  }
  reaching_ = true;
  deps_.late.reach(std::move(plans), request.service == wire::WireUp::Pmix ? worlds_ : std::vector<wire::AddWorkers>(),
                   [this] { reached(); });
}

// Places may have been taken meanwhile, so the request is planned again.
void Spawns::reached() {
  if (!reaching_ || deps_.late.is_reaching()) return;
  reaching_ = false;
  const std::string why = deps_.machine.runs() ? deps_.late.why() : "is being ended";
  if (!why.empty()) give_up(why);
  next();
}

void Spawns::ended(Rank rank) {
  if (!reaching_ || requests_.front().from != rank) return;
  reaching_ = false;
  give_up("has ended");
  next();
}

// ---- the check on all hosts

// With PMIx, ranks of every host may connect to the new ones, so the PMIx library of every host must know them.
Result<void> Spawns::ask_hosts(const wire::SpawnRequest& request, Pending planned) {
  Pending& pending = pending_.emplace(std::move(planned));
  const auto place = [&](HostIndex index) -> std::optional<AgentPlace> {
    const std::span<const fleet::Host> hosts = std::as_const(deps_.context.fleet).hosts();
    const auto host =
        std::find_if(hosts.begin(), hosts.end(), [index](const fleet::Host& one) { return one.index == index; });
    const bool has_some = !pending.world.hosts[index.value()].ranks.empty();
    const bool is_told =
        has_some || (request.service == wire::WireUp::Pmix && host != hosts.end() && takes_workers(*host));
    if (!is_told || host == hosts.end()) return std::nullopt;
    return host->session->contact().is_local ? AgentPlace::ThisMachine : AgentPlace::Remote;
  };
  AddedWorld added = added_world(pending.grown, pending.world, settings(), place);
  const Rank first(plan().map.world_size());
  if (Result<void> kept = deps_.context.sink.complete(pending.grown, first, added.messages); !kept) {
    pending_.reset();
    return kept;
  }
  for (std::size_t i = 0; i < added.hosts.size(); ++i) {
    added.messages[i].service = request.service;
    added.messages[i].keys = request.keys;
    pending.awaited.insert(plan().map.hosts[added.hosts[i].value()].id);
    deps_.context.fleet.send(added.hosts[i], added.messages[i]);
  }
  pending.message = std::move(added.messages.front());
  pending.message.apps.clear();
  pending.message.workers.clear();
  return {};
}

void Spawns::handle(const fleet::Host& host, const wire::Added& m) {
  if (!pending_ || pending_->awaited.erase(host.id) == 0) return;
  // otherwise its workers may have ended
  const bool has_some = !pending_->world.hosts[host.index.value()].ranks.empty();
  if (!m.errors.empty() && pending_->why.empty() && has_some) {
    pending_->why = "wants what " + host.name() + " cannot start: " + show(m.errors.front().message, kLongestName);
  }
  look();
}

void Spawns::lost(const fleet::Host& host) {
  if (!pending_ || pending_->awaited.erase(host.id) == 0) return;
  if (!pending_->world.hosts[host.index.value()].ranks.empty()) {
    pending_->why = "wants ranks on " + host.name() + ", which is there no more";
  }
  look();
}

void Spawns::look() {
  if (!pending_->awaited.empty()) return;
  if (pending_->why.empty() && !deps_.machine.runs()) pending_->why = "is being ended";
  const wire::SpawnRequest request = std::move(requests_.front());
  requests_.pop_front();
  wire::StartAdded order{.attempt = plan().job.attempt + 1,
                         .first = Rank(plan().map.world_size()),
                         .go = pending_->why.empty() ? wire::Go::Yes : wire::Go::No,
                         .ranks = pending_->grown.map.world_size()};
  const std::string why = pending_->why;
  if (why.empty()) start(request);
  pending_.reset();
  deps_.context.fleet.send_all(order);
  if (!why.empty()) deps_.late.let_go();
  answer(request, why);
  next();
}

void Spawns::start(const wire::SpawnRequest& request) {
  deps_.rendezvous.expect_others();
  if (request.service == wire::WireUp::Pmix) worlds_.push_back(std::move(pending_->message));
  const std::vector<const fleet::Host*> come = deps_.late.begin(pending_->world);
  deps_.growth.begin(std::move(pending_->grown), come, request.from);
}

void Spawns::answer(const wire::SpawnRequest& request, const std::string& why) {
  const HostIndex host = plan().map.ranks[request.from.value()].host;
  if (!why.empty()) {
    deps_.context.owner.print("rank " + std::to_string(request.from.value()) + " on " +
                              plan().map.hosts[host.value()].host.name + ": MPI_Comm_spawn starts nothing: it " + why);
  }
  deps_.context.fleet.send(host, wire::SpawnAnswer{.attempt = plan().job.attempt + 1,
                                                   .service = request.service,
                                                   .to = request.from,
                                                   .call = request.call,
                                                   .why = why});
}

}  // namespace sml::attempt
