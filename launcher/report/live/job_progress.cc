#include "launcher/report/live/job_progress.h"

#include <algorithm>

namespace sml::report {

// Applies each event.
struct JobProgress::Listener {
  JobProgress& p;
  TimePoint at;

  void operator()(const JobBegins&) const {}
  void operator()(const HostStep& e) const {
    if (Host* host = p.host(e.host); host != nullptr && host->state != HostState::Failed) host->text = e.step;
  }
  void operator()(const HostConnected& e) const { set(e.host, HostState::Connected); }
  void operator()(const HostReady& e) const { set(e.host, HostState::Ready); }
  void operator()(const HostFailed& e) const {
    if (Host* host = p.host(e.host)) p.fail(*host, e.why.text());
  }
  void operator()(const HostInUse& e) const {
    if (Host* host = p.host(e.host)) host->peaks.add(e.use);
  }
  void operator()(const HostExcluded&) const {}
  void operator()(const HostListChanged&) const {}
  void operator()(const HostEnded& e) const {
    if (const Host* host = p.host(e.host); host != nullptr && host->state != HostState::Failed) {
      set(e.host, HostState::Ended);
    }
  }
  void operator()(const WorkersStart&) const { p.phase_ = Phase::Running; }
  void operator()(const RankStarted& e) const {
    RankLine& rank = p.ranks_[e.rank.value()];
    rank.pid = e.pid;
    rank.start = rank.last_output = at;
    p.set(rank, RankState::Running);
  }
  void operator()(const RanksAdded& e) const { p.grow(e.plan->map, e.first); }
  void operator()(const RankOutput& e) const {
    RankLine& rank = p.ranks_[e.rank.value()];
    rank.bytes += e.bytes;
    rank.last_output = at;
  }
  void operator()(const RankExited& e) const {
    RankLine& rank = p.ranks_[e.rank.value()];
    rank.end = at;
    rank.status = describe(e.status);
    const RankState by_itself = succeeded(e.status) ? RankState::Succeeded : RankState::Failed;
    p.set(rank, e.ending == Ending::Stopped ? RankState::Stopped : by_itself);
  }
  void operator()(const RankDrained&) const {}
  void operator()(const HostAtFence&) const {}
  void operator()(const RanksMet&) const {}
  void operator()(const SignalCame&) const {}
  void operator()(const JobStopping&) const { p.phase_ = Phase::Stopping; }
  void operator()(const AttemptFails&) const {}
  void operator()(const AttemptBegins& e) const { p.begin_attempt(e); }
  void operator()(const JobEnds&) const {}

  void set(HostId id, HostState state) const {
    if (Host* host = p.host(id)) p.set(*host, state);
  }
};

void JobProgress::on_event(const Event& event) {
  if (const auto* begins = std::get_if<JobBegins>(&event.what)) begin_job(*begins, event.at);
  if (!hosts_.empty()) std::visit(Listener{*this, event.at}, event.what);
}

void JobProgress::begin_job(const JobBegins& job, TimePoint at) {
  begin_ = at;
  list(job.plan->map);
}

// The hosts are connected already.
void JobProgress::begin_attempt(const AttemptBegins& attempt) {
  attempt_ = attempt.attempt;
  phase_ = Phase::Starting;
  list(attempt.plan->map);
  for (Host& host : hosts_) set(host, HostState::Connected);
}

void JobProgress::list(const plan::JobMap& map) {
  place_.assign(map.hosts.size(), std::nullopt);
  hosts_.clear();
  ranks_.assign(map.world_size(), {});
  host_counts_ = {};
  rank_counts_ = {};
  for (const plan::MappedHost& mapped : map.hosts) {
    if (mapped.ranks.empty()) continue;
    place_[mapped.id.value()] = hosts_.size();
    for (const Rank rank : mapped.ranks) ranks_[rank.value()].host = hosts_.size();
    Host& host = hosts_.emplace_back();
    host.name = mapped.host.name;
    for (const Rank rank : mapped.ranks) host.ranks.add(rank.value());
  }
  host_counts_[static_cast<std::size_t>(HostState::Waiting)] = hosts_.size();
  rank_counts_[static_cast<std::size_t>(RankState::Waiting)] = ranks_.size();
}

void JobProgress::grow(const plan::JobMap& map, Rank first) {
  place_.resize(std::max(place_.size(), map.hosts.size()));
  for (std::uint32_t r = first.value(); r < map.world_size(); ++r) {
    const plan::MappedHost& mapped = map.hosts[map.ranks[r].host.value()];
    std::optional<std::size_t>& place = place_[mapped.id.value()];
    if (!place) {
      place = hosts_.size();
      hosts_.emplace_back().name = mapped.host.name;
      ++host_counts_[static_cast<std::size_t>(HostState::Waiting)];
    }
    ranks_.emplace_back().host = *place;
    hosts_[*place].ranks.add(r);
    ++rank_counts_[static_cast<std::size_t>(RankState::Waiting)];
  }
}

JobProgress::Host* JobProgress::host(HostId id) {
  if (id.value() >= place_.size() || !place_[id.value()]) return nullptr;
  return &hosts_[*place_[id.value()]];
}

void JobProgress::set(Host& host, HostState state) {
  --host_counts_[static_cast<std::size_t>(host.state)];
  ++host_counts_[static_cast<std::size_t>(state)];
  host.state = state;
}

void JobProgress::set(RankLine& rank, RankState state) {
  --rank_counts_[static_cast<std::size_t>(rank.state)];
  ++rank_counts_[static_cast<std::size_t>(state)];
  rank.state = state;
}

// The end of the host's ranks will not be observed.
void JobProgress::fail(Host& host, std::string why) {
  set(host, HostState::Failed);
  host.text = std::move(why);
  const auto index = static_cast<std::size_t>(&host - hosts_.data());
  for (RankLine& rank : ranks_) {
    if (rank.host == index && rank.state == RankState::Running) set(rank, RankState::Lost);
  }
}

}  // namespace sml::report
