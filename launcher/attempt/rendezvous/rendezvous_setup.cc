#include "launcher/attempt/rendezvous/rendezvous_setup.h"

#include <algorithm>
#include <utility>

#include "launcher/attempt/session_plans.h"

namespace sml::attempt {

namespace {

// Whether ranks may be spawned on hosts that run none.
bool has_room_elsewhere(const plan::LaunchPlan& plan) {
  const auto is_idle = [](const plan::MappedHost& host) {
    return host.ranks.empty() && host.slots > 0 && host.duty == plan::HostDuty::Work;
  };
  return plan.mpi != plan::PmiMode::None && !plan.calls &&
         std::any_of(plan.map.hosts.begin(), plan.map.hosts.end(), is_idle);
}

}  // namespace

RendezvousSetup::RendezvousSetup(const AttemptContext& context, const plan::LaunchPlan& plan, AttemptControl& control)
    : context_(context),
      plan_(plan),
      control_(control),
      search_(context.fleet.hosts(), context.options.master_address),
      join_watch_(
          context.options.join_warn, plan.map.members(),
          plan.torch_store == plan::TorchStore::OfAgent ? JoinWatch::Store::OfAgent : JoinWatch::Store::OfRank0),
      timer_(context.loop),
      trace_timer_(context.loop),
      expects_others_(has_room_elsewhere(plan)),
      preset_ports_(plan::preset_ports(plan.presets, plan.map)) {}

void RendezvousSetup::prepared(const fleet::Host& host, const wire::Prepared& message) {
  const std::uint16_t torch_port = wire::port_of(message, wire::ServiceKind::TorchStore);
  if (torch_port != 0 && context_.fleet.is_first(host)) {
    port_ = torch_port;
    horovod_port_ = wire::port_of(message, wire::ServiceKind::HorovodStore);
    search_.begin(port_);
  }
  const std::vector<std::uint16_t> ports = wire::ports_of(message, wire::ServiceKind::WorkerPort);
  auto port = ports.begin();
  for (plan::PresetPort& reserved : preset_ports_) {
    if (reserved.host == host.index && port != ports.end()) reserved.port = *port++;
  }
}

// ---- the address

// Workers of an elastic job may later have to find others elsewhere, so prefer an address that other hosts reach.
std::string RendezvousSetup::address_of_lone_host() const {
  const std::string other = likely_address(known_addresses(context_.fleet.hosts().front()));
  return is_elastic(context_.options, plan_) && !other.empty() ? other : search_.address_of_lone_host();
}

bool RendezvousSetup::ask() {
  if (context_.fleet.hosts().size() == 1) address_ = address_of_lone_host();
  for (const fleet::Host& host : context_.fleet.hosts()) search_.ask(host);
  return context_.fleet.hosts().size() == 1;
}

RendezvousSetup::Search RendezvousSetup::look(std::vector<fleet::ProbeFault>& faults) {
  std::optional<fleet::ChosenAddress> chosen = search_.outcome(fleet::AddressSearch::Of::All);
  if (!chosen) return Search::Pending;
  address_ = chosen->address;
  if (!address_.empty()) return Search::Found;
  if (search_.ask_again()) return Search::Pending;
  faults = std::move(chosen->faults);
  return Search::Failed;
}

// All addresses from which a worker may connect to rank 0's host.
std::vector<std::string> RendezvousSetup::all_addresses() const {
  std::vector<std::string> locals;
  for (const fleet::Host& host : context_.fleet.hosts()) {
    const std::string& local = host.session->contact().local_address;
    if (std::find(locals.begin(), locals.end(), local) == locals.end()) locals.push_back(local);
  }
  std::vector<std::string> out = addresses_of_first(known_addresses(context_.fleet.hosts().front()), locals);
  for (const fleet::Host& host : context_.fleet.hosts()) {
    out.insert(out.end(), host.addresses.begin(), host.addresses.end());
    if (!host.session->contact().peer_address.empty()) out.push_back(host.session->contact().peer_address);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// The addresses at which other hosts reach each host, by its index in the plan: rank 0's is proven, the others come
// from the connections and from what their agents report.
std::vector<std::string> RendezvousSetup::host_addresses() const {
  std::vector<std::string> out(plan_.map.hosts.size());
  for (const fleet::Host& host : context_.fleet.hosts())
    out[host.index.value()] = likely_address(known_addresses(host));
  out[context_.fleet.hosts().front().index.value()] = address_;
  return out;
}

// ---- the start

plan::Rendezvous RendezvousSetup::rendezvous() const {
  return {.address = address_,
          .port = port_,
          .horovod_port = horovod_port_,
          .torch_store = plan_.torch_store,
          .elastic = is_elastic(context_.options, plan_)};
}

// A loopback address, used while the first host was alone, leads nowhere from another host.
void RendezvousSetup::start_workers(fleet::Host& host, std::vector<wire::RankVariables> variables,
                                    transport::Afterwards afterwards) const {
  plan::Rendezvous seen = rendezvous();
  const std::string other = likely_address(known_addresses(context_.fleet.hosts().front()));
  if (seen.address == "127.0.0.1" && !other.empty()) seen.address = other;
  wire::Start start{.rendezvous = plan::rendezvous_environment(seen), .variables = std::move(variables)};
  wire::pack_environments(start);
  host.session->start_workers(start, afterwards);
}

void RendezvousSetup::start_workers(transport::Afterwards afterwards) {
  const std::vector<std::string> addresses = host_addresses();
  const plan::PresetFacts facts{addresses, preset_ports_, plan_.launcher_environment};
  wire::Start start{.rendezvous = plan::rendezvous_environment(rendezvous())};
  const auto set_variables = [&](const fleet::Host& host) {
    start.variables = preset_variables(plan_, plan_.map.hosts[host.index.value()], facts);
    wire::pack_environments(start);
  };
  for (fleet::Host& host : context_.fleet.hosts()) {
    if (context_.fleet.is_first(host)) continue;
    set_variables(host);
    host.session->start_workers(start, afterwards);
  }
  set_variables(context_.fleet.first());
  start.stores = {plan_.torch_store, plan_.map.members(), all_addresses(),
                  is_elastic(context_.options, plan_) ? wire::HorovodRounds::Yes : wire::HorovodRounds::No};
  const bool others = context_.fleet.hosts().size() > 1 || expects_others_;
  released_ = !others && afterwards == transport::Afterwards::Leave;
  context_.fleet.first().session->start_workers(start, others ? transport::Afterwards::Stay : afterwards);
  counts_joined_ = afterwards == transport::Afterwards::Stay;
  watching_ = true;
  watch();
  started_ = Clock::now();
  if (!context_.options.observers.trace_file.empty() && plan_.job.attempt == 0) trace_joins();
}

void RendezvousSetup::watch() {
  if (plan_.map.members() < 2 || context_.options.join_warn == Duration::zero()) return;
  if (context_.options.verbosity == Verbosity::Quiet) return;
  join_watch_.started(Clock::now());
  arm();
}

void RendezvousSetup::release_stores() {
  const auto ended = [](const fleet::Host& h) { return h.session->ended(); };
  if (!std::all_of(context_.fleet.hosts().begin() + 1, context_.fleet.hosts().end(), ended)) return;
  if (expects_others_ && context_.fleet.first().session->state() != transport::SessionState::Cleared) return;
  if (std::exchange(released_, true)) return;
  context_.fleet.first().session->release();
}

// ---- ranks that have not joined

bool RendezvousSetup::warn(const std::string& sentence) const {
  if (sentence.empty() || !watching_) return false;
  context_.owner.print(sentence);
  return true;
}

void RendezvousSetup::arm() {
  if (!join_watch_.due()) return;
  timer_.expires_at(*join_watch_.due());
  timer_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    if (error || alive.expired() || !watching_) return;
    if (join_watch_.first() == JoinWatch::Ask::Everybody) return ask_everybody();
    join_watch_.asking_store();
    ask_first(Asker::Watch);
  });
}

void RendezvousSetup::ask_first(Asker asker) {
  asked_.push_back(asker);
  const auto look = asker == Asker::Watch ? wire::TorchLook::Yes : wire::TorchLook::No;
  context_.fleet.first().session->send(wire::AskJoined{.port = 0, .torch_look = look});
}

// Asks the store at times that lie ever further apart, so that a job which never joins costs little; the trace is exact
// to a fifth of the time since the start.
void RendezvousSetup::trace_joins() {
  constexpr Duration kSoonest = std::chrono::milliseconds(50);
  constexpr Duration kLatest = std::chrono::seconds(10);
  constexpr int kPart = 5;
  if (plan_.torch_store != plan::TorchStore::OfAgent || plan_.map.members() < 2) return;
  trace_timer_.expires_after(std::clamp<Duration>((Clock::now() - started_) / kPart, kSoonest, kLatest));
  trace_timer_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    if (!error && !alive.expired() && watching_ && context_.fleet.first().runs()) ask_first(Asker::Trace);
  });
}

void RendezvousSetup::ask_everybody() {
  const std::span<const fleet::Host> hosts = context_.fleet.hosts();
  const auto running = std::count_if(hosts.begin(), hosts.end(), [](const fleet::Host& h) { return h.runs(); });
  join_watch_.asking_everybody(static_cast<std::size_t>(running));
  if (context_.fleet.first().runs()) asked_.push_back(Asker::Watch);
  context_.fleet.send_all(wire::AskJoined{.port = port_});
}

void RendezvousSetup::count_joined() {
  constexpr Duration kTimeout = std::chrono::seconds(2);
  if (!counts_joined_) return;
  watching_ = false;
  if (std::exchange(counting_, true)) return;
  for (const fleet::Host& host : context_.fleet.hosts()) {
    if (!host.runs()) continue;
    joined_.ask(host.id);
    if (context_.fleet.is_first(host)) asked_.push_back(Asker::Watch);
    host.session->send(wire::AskJoined{});
  }
  timer_.expires_after(kTimeout);
  timer_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    if (error || alive.expired()) return;
    joined_.give_up();
    control_.look_for_end();
  });
}

void RendezvousSetup::handle(const fleet::Host& host, const wire::Joined& m) {
  if (context_.fleet.is_first(host) && !asked_.empty()) {
    const Asker asker = asked_.front();
    asked_.pop_front();
    if (asker == Asker::Trace) {
      if (!watching_) return;
      return m.count >= plan_.map.members() ? context_.events.publish(report::RanksMet{}) : trace_joins();
    }
  }
  if (counting_) {
    joined_.add_reply(host.id, m.count);
    if (joined_.complete()) control_.look_for_end();
    return;
  }
  if (!watching_) return;  // a late reply, for an earlier attempt
  if (join_watch_.asking() == JoinWatch::Ask::Everybody) {
    std::vector<Rank> missing = m.missing;  // helpers need not join
    std::erase_if(missing, [this](Rank rank) { return rank.value() >= plan_.map.members(); });
    if (warn(join_watch_.host_says(host.name(), missing, m.count, Clock::now()))) context_.owner.ranks_missing();
    return arm();
  }
  const auto since = std::chrono::milliseconds(m.since_first_ms);
  if (join_watch_.on_store_reply(m.count, since, Clock::now()) == JoinWatch::Ask::Everybody) return ask_everybody();
  warn(join_watch_.why_nobody(m.with_torch));
  arm();
}

// ---- which process a store may serve

// A host whose agent has left has no worker any more that could connect.
void RendezvousSetup::handle(const fleet::Host& host, const wire::AskPeerOwnership& m) {
  if (!context_.fleet.is_first(host) || m.callers.size() > wire::kMaxCallers) return;
  fleet::OwnershipChecks plan = plan_ownership_checks(m.callers, known_addresses(context_.fleet.hosts()));
  wire::PeerVerdicts& verdicts = plan.nobody;
  for (const auto& [position, check] : plan.by_host) {
    const fleet::Host& asked = context_.fleet.hosts()[position];
    if (asked.runs()) {
      asked.session->send(check);
    } else {
      for (const wire::Caller& caller : check.callers)
        verdicts.verdicts.push_back({caller.id, wire::PeerOwnership::No});
    }
  }
  if (!verdicts.verdicts.empty()) host.session->send(verdicts);
}

void RendezvousSetup::handle(const fleet::Host&, const wire::PeerVerdictsOfHost& m) {
  context_.fleet.first().session->send(wire::PeerVerdicts{m.verdicts});
}

}  // namespace sml::attempt
