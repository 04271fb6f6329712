// What a Job does for the rendezvous of the workers: who serves it, for whom, and until when.
#include <algorithm>
#include <csignal>

#include "launcher/job/job.h"
#include "launcher/job/session_plans.h"

namespace sml::job {

// Every address from which a worker may call rank 0's host.
std::vector<std::string> Job::job_addresses() const {
  std::vector<std::string> out = addresses_of_first(known_addresses(fleet_.hosts()));
  for (const fleet::Host& host : fleet_.hosts()) {
    out.insert(out.end(), host.addresses.begin(), host.addresses.end());
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
  const std::vector<fleet::HostAddresses> known = known_addresses(fleet_.hosts());
  for (const fleet::Host& host : fleet_.hosts()) out[host.index.value()] = likely_address(known[host.position]);
  out[fleet_.hosts().front().index.value()] = master_address_;
  return out;
}

std::vector<wire::RankVariables> Job::preset_variables(const fleet::Host& host, const plan::PresetFacts& facts) const {
  std::vector<wire::RankVariables> out;
  if (plan_.presets.empty()) return out;
  for (const Rank rank : plan_.map.hosts[host.index.value()].ranks) {
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
  for (const fleet::Host& host : fleet_.hosts()) {
    host.session->end_workers({SIGTERM, launch::milliseconds(options_.grace)}, launch::Afterwards::Leave);
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
  for (fleet::Host& host : fleet_.hosts()) {
    if (host.position == 0) continue;
    start.variables = preset_variables(host, facts);
    host.session->start_workers(start, launch::Afterwards::Leave);
  }
  start.variables = preset_variables(fleet_.first(), facts);
  start.stores = {options_.torch_store, plan_.map.members(), job_addresses()};
  const bool others = fleet_.hosts().size() > 1;
  fleet_.first().session->start_workers(start, others ? launch::Afterwards::Stay : launch::Afterwards::Leave);

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
    fleet_.first().session->send(wire::AskJoined{});
  });
}

void Job::ask_who_has_joined() {
  const std::vector<fleet::Host>& hosts = fleet_.hosts();
  const auto running = std::count_if(hosts.begin(), hosts.end(), [](const fleet::Host& h) { return h.runs(); });
  join_watch_.asking_everybody(static_cast<std::size_t>(running));
  fleet_.tell_all(wire::AskJoined{master_port_});
}

void Job::handle(fleet::Host& host, const wire::Joined& m) {
  const auto say = [this](const std::string& sentence) {
    if (!sentence.empty() && machine_.state() == JobState::Running) console_.say(sentence);
  };
  if (join_watch_.asking() == JoinWatch::Ask::Everybody) {
    std::vector<Rank> missing = m.missing;  // helpers need not join
    std::erase_if(missing, [this](Rank rank) { return rank.value() >= plan_.map.members(); });
    say(join_watch_.host_says(host.name(), missing, m.count, Clock::now()));
    return arm_join_watch();
  }
  const auto since = std::chrono::milliseconds(m.since_first_ms);
  if (join_watch_.store_says(m.count, since, Clock::now()) == JoinWatch::Ask::Everybody) return ask_who_has_joined();
  say(join_watch_.why_nobody(m.with_torch));
  arm_join_watch();
}

// A host whose agent has left has no worker any more that could call.
void Job::handle(fleet::Host& host, const wire::AskVouch& m) {
  if (host.position != 0 || m.callers.size() > wire::kMaxCallers) return;
  fleet::VouchPlan plan = plan_vouching(m.callers, known_addresses(fleet_.hosts()));
  wire::Ruled& ruled = plan.nobody;
  for (const auto& [position, vouch] : plan.by_host) {
    const fleet::Host& asked = fleet_.hosts()[position];
    if (asked.runs()) {
      asked.session->send(vouch);
    } else {
      for (const wire::Caller& caller : vouch.callers) ruled.rulings.push_back({caller.id, wire::IsOurs::No});
    }
  }
  if (!ruled.rulings.empty()) host.session->send(ruled);
}

void Job::handle(fleet::Host&, const wire::Vouched& m) { fleet_.first().session->send(wire::Ruled{m.rulings}); }

// The stores on rank 0's host are needed until every other host is done.
void Job::release_stores() {
  const auto ended = [](const fleet::Host& h) { return h.session->ended(); };
  if (std::all_of(fleet_.hosts().begin() + 1, fleet_.hosts().end(), ended)) fleet_.first().session->release();
}

}  // namespace sml::job
