// What a Job does for the rendezvous of the workers: who serves it, for whom, and until when.
#include <algorithm>
#include <csignal>

#include "launcher/job/job.h"
#include "launcher/job/session_facts.h"
#include "launcher/job/session_plans.h"

namespace sml::job {

std::vector<HostAddresses> Job::known_addresses() const {
  std::vector<HostAddresses> out;
  for (const HostEntry& host : hosts_) {
    HostAddresses& one = out.emplace_back(connection_addresses(*host.session));
    one.own = host.info.addresses;
    one.chosen = host.info.chosen_addresses;
  }
  return out;
}

std::vector<std::string> Job::candidate_addresses() const {
  return job::candidate_addresses(options_.master_address, known_addresses());
}

// Every address from which a worker may call rank 0's host.
std::vector<std::string> Job::job_addresses() const {
  std::vector<std::string> out = addresses_of_first(known_addresses());
  for (const HostEntry& host : hosts_) {
    out.insert(out.end(), host.info.addresses.begin(), host.info.addresses.end());
    if (!host.session->peer_address().empty()) out.push_back(host.session->peer_address());
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// At which the other hosts reach each host, by its index in the plan: rank 0's proven, the others' as connections and
// their agents tell.
std::vector<std::string> Job::host_addresses() const {
  std::vector<std::string> out(plan_.map.hosts.size());
  const std::vector<HostAddresses> known = known_addresses();
  for (std::size_t i = 0; i < hosts_.size(); ++i) out[hosts_[i].session->host().value()] = likely_address(known[i]);
  out[hosts_.front().session->host().value()] = master_address_;
  return out;
}

std::vector<wire::RankVariables> Job::preset_variables(const HostEntry& host, const plan::PresetFacts& facts) const {
  std::vector<wire::RankVariables> out;
  if (plan_.presets.empty()) return out;
  for (const Rank rank : plan_.map.hosts[host.session->host().value()].ranks) {
    const plan::RankAssignment& assignment = plan_.map.ranks[rank.value()];
    plan::PresetFacts of_program = facts;
    of_program.user = plan_.program(assignment.program).user_environment;
    out.push_back({rank, plan::preset_environment(plan_.presets, plan_.map, assignment, plan_.job, of_program)});
  }
  return out;
}

// Those whom they have served have all ended, and nothing else runs.
void Job::release_servers() {
  if (machine_.state() != JobState::Running) return;
  const auto serves = [](const plan::RankAssignment& rank) { return rank.part != plan::Part::Worker; };
  if (std::none_of(plan_.map.ranks.begin(), plan_.map.ranks.end(), serves)) return;
  for (HostEntry& host : hosts_) {
    if (host.session->agent_runs()) host.session->send(wire::Stop{SIGTERM, milliseconds(options_.grace)});
  }
}

// On every host; the first serves the stores.
void Job::start_workers() {
  const plan::Rendezvous rendezvous{.address = master_address_,
                                    .port = master_port_,
                                    .horovod_port = horovod_port_,
                                    .torch_store = options_.torch_store};
  const std::vector<std::string> addresses = host_addresses();
  const plan::PresetFacts facts{addresses, preset_ports_, plan_.launcher_environment};
  wire::Start start{.rendezvous = plan::rendezvous_environment(rendezvous)};
  for (std::size_t i = 1; i < hosts_.size(); ++i) {
    start.variables = preset_variables(hosts_[i], facts);
    hosts_[i].session->start_workers(start);
  }
  start.variables = preset_variables(hosts_.front(), facts);
  start.stores = {options_.torch_store, plan_.map.members(), job_addresses()};
  if (hosts_.size() > 1) start.leave = wire::Leave::WhenReleased;
  hosts_.front().session->start_workers(start);

  if (plan_.map.members() < 2 || options_.join_warn == Duration::zero()) return;
  if (options_.verbosity == Verbosity::Quiet) return;
  join_watch_.started(Clock::now());
  arm_join_watch();
}

void Job::arm_join_watch() {
  if (!join_watch_.due()) return;
  join_timer_.expires_at(*join_watch_.due());
  join_timer_.async_wait([this](boost::system::error_code error) {
    if (error || machine_.state() != JobState::Running) return;
    if (join_watch_.first() == JoinWatch::Ask::Everybody) return ask_who_has_joined();
    join_watch_.asking_store();
    hosts_.front().session->send(wire::AskJoined{});
  });
}

void Job::ask_who_has_joined() {
  const auto runs = [](const HostEntry& h) { return h.session->agent_runs(); };
  join_watch_.asking_everybody(static_cast<std::size_t>(std::count_if(hosts_.begin(), hosts_.end(), runs)));
  for (HostEntry& each : hosts_) each.session->send(wire::AskJoined{master_port_});
}

void Job::handle(HostEntry& host, const wire::Joined& m) {
  const auto say = [this](const std::string& sentence) {
    if (!sentence.empty() && machine_.state() == JobState::Running) console_.say(sentence);
  };
  if (join_watch_.asking() == JoinWatch::Ask::Everybody) {
    std::vector<Rank> missing = m.missing;  // helpers need not join
    std::erase_if(missing, [this](Rank rank) { return rank.value() >= plan_.map.members(); });
    say(join_watch_.host_says(host.session->name(), missing, m.count, Clock::now()));
    return arm_join_watch();
  }
  const auto since = std::chrono::milliseconds(m.since_first_ms);
  if (join_watch_.store_says(m.count, since, Clock::now()) == JoinWatch::Ask::Everybody) return ask_who_has_joined();
  say(join_watch_.why_nobody(m.with_torch));
  arm_join_watch();
}

// A host whose agent has left has no worker any more that could call.
void Job::handle(HostEntry& host, const wire::AskVouch& m) {
  if (&host != &hosts_.front() || m.callers.size() > wire::kMaxCallers) return;
  VouchPlan plan = plan_vouching(m.callers, known_addresses());
  wire::Ruled& ruled = plan.nobody;
  for (const auto& [index, vouch] : plan.by_host) {
    if (hosts_[index].session->agent_runs()) {
      hosts_[index].session->send(vouch);
    } else {
      for (const wire::Caller& caller : vouch.callers) ruled.rulings.push_back({caller.id, wire::IsOurs::No});
    }
  }
  if (!ruled.rulings.empty()) host.session->send(ruled);
}

void Job::handle(HostEntry&, const wire::Vouched& m) {
  if (hosts_.front().session->agent_runs()) hosts_.front().session->send(wire::Ruled{m.rulings});
}

// The stores on rank 0's host are needed until every other host is done.
void Job::release_stores() {
  const auto ended = [](const HostEntry& h) { return h.session->ended(); };
  if (std::all_of(hosts_.begin() + 1, hosts_.end(), ended)) hosts_.front().session->send(wire::Release{});
}

}  // namespace sml::job
