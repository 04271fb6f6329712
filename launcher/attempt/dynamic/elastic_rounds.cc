#include "launcher/attempt/dynamic/elastic_rounds.h"

#include <algorithm>
#include <utility>

namespace sml::attempt {

namespace {

// Returns "rank,size,local_rank,local_size,cross_rank,cross_size".
std::string numbers_of(const plan::RankAssignment& a, std::uint32_t size) {
  std::string out = std::to_string(a.rank.value());
  for (const std::uint32_t number : {size, a.local_rank.value(), a.local_size, a.cross_rank, a.cross_size}) {
    out += "," + std::to_string(number);
  }
  return out;
}

std::string slot(const plan::MappedHost& host, std::size_t local_rank) {
  return host.host.name + ":" + std::to_string(local_rank);
}

}  // namespace

ElasticRounds::ElasticRounds(plan::JobMap map, Following following, std::uint32_t resets)
    : following_(std::move(following)), current_(std::move(map)), most_resets_(resets) {
  for (const plan::RankAssignment& a : current_.ranks) {
    const plan::MappedHost& host = current_.hosts[a.host.value()];
    members_.push_back({host.id, slot(host, a.local_rank.value())});
  }
}

// Names are reused: returns the latest rank with that name.
std::optional<Rank> ElasticRounds::rank_of(std::string_view slot) const {
  const auto found =
      std::find_if(members_.rbegin(), members_.rend(), [slot](const Member& member) { return member.slot == slot; });
  if (found == members_.rend()) return std::nullopt;
  return Rank(static_cast<std::uint32_t>(members_.rend() - found - 1));
}

ElasticRounds::Member* ElasticRounds::find(Rank rank) {
  return rank.value() < members_.size() ? &members_[rank.value()] : nullptr;
}

std::uint32_t ElasticRounds::count(Standing standing) const {
  const auto stands = [standing](const Member& member) { return member.standing == standing; };
  return static_cast<std::uint32_t>(std::count_if(members_.begin(), members_.end(), stands));
}

std::vector<Rank> ElasticRounds::ranks_on(HostId host) const {
  std::vector<Rank> out;
  for (std::uint32_t rank = 0; rank < members_.size(); ++rank) {
    const Member& member = members_[rank];
    if (member.host == host && member.standing != Standing::Out) out.emplace_back(rank);
  }
  return out;
}

void ElasticRounds::registered(Rank rank) {
  if (Member* member = find(rank)) member->registered = true;
}

ElasticRounds::Answer ElasticRounds::ready(Rank rank) {
  Member* member = find(rank);
  const bool runs = member != nullptr && (member->standing == Standing::Runs || member->standing == Standing::Ready);
  if (!runs) return Answer::Removed;
  member->standing = Standing::Ready;
  return Answer::Later;
}

void ElasticRounds::ended(Rank rank, End end) {
  Member* member = find(rank);
  if (member == nullptr || (member->standing != Standing::Runs && member->standing != Standing::Ready)) return;
  member->standing = end == End::Success ? Standing::Succeeded : Standing::Failed;
}

bool ElasticRounds::is_out(Rank rank) const {
  return rank.value() < members_.size() && members_[rank.value()].standing == Standing::Out;
}

void ElasticRounds::host_lost(HostId host) {
  for (const Rank rank : ranks_on(host)) ended(rank, End::Failure);
}

bool ElasticRounds::some_may_go_on() const {
  std::uint32_t live = 0;
  for (const Member& member : members_) {
    const bool lives = member.standing == Standing::Runs || member.standing == Standing::Ready;
    if (lives && !member.registered) return false;
    live += lives ? 1 : 0;
  }
  return live > 0 && used_ < most_resets_ && following().has_value();
}

bool ElasticRounds::has_failed(HostId host) const {
  const auto failed = [&](const Member& m) { return m.host == host && m.standing == Standing::Failed; };
  return std::any_of(members_.begin(), members_.end(), failed);
}

// A host with a failed member is out.
Result<plan::JobMap> ElasticRounds::following() const {
  std::vector<HostId> out = out_;
  for (const plan::MappedHost& host : current_.hosts) {
    if (has_failed(host.id)) out.push_back(host.id);
  }
  return following_(current_, out);
}

ElasticRounds::Step ElasticRounds::look() const {
  if (count(Standing::Runs) > 0) return Continue{};
  const std::uint32_t ready = count(Standing::Ready);
  if (count(Standing::Succeeded) > 0) return ready > 0 ? Step(Finished{ready}) : Step(Continue{});
  if (ready == 0 || used_ == most_resets_) return GivenUp{};
  Result<plan::JobMap> map = following();
  if (!map) return GivenUp{};
  Next next;
  next.map = std::move(*map);
  next.number = used_ + 1;
  const std::vector<HostIndex> places = next.map.places();
  for (const plan::MappedHost& host : current_.hosts) {
    const std::vector<Rank> ranks = ranks_on(host.id);
    if (ranks.empty() || !next.map.hosts[places[host.id.value()].value()].ranks.empty()) continue;
    next.out.push_back(host.id);
    next.left.insert(next.left.end(), ranks.begin(), ranks.end());
  }
  for (const plan::MappedHost& host : next.map.hosts) {
    if (host.ranks.empty()) continue;
    const std::vector<Rank> ranks = ranks_on(host.id);
    if (ranks.empty()) next.joining.push_back({host.id, static_cast<std::uint32_t>(host.ranks.size())});
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const plan::RankAssignment& now = next.map.ranks[host.ranks[i].value()];
      next.members.push_back({ranks[i], numbers_of(now, next.map.world_size())});
    }
  }
  return next;
}

void ElasticRounds::add(const plan::MappedHost& host) {
  for (std::size_t i = 0; i < host.ranks.size(); ++i) {
    members_.push_back({host.id, slot(host, i)});
    members_.back().registered = true;  // assumed: its program has registered in other workers
  }
}

void ElasticRounds::begin(const Next& next, Rank first) {
  for (const HostId host : next.out) {
    if (has_failed(host)) out_.push_back(host);
  }
  for (const Rank rank : next.left) members_[rank.value()].standing = Standing::Out;
  for (const Next::Member& member : next.members) members_[member.rank.value()].standing = Standing::Runs;
  members_.resize(first.value(), Member{.host = {}, .slot = {}, .standing = Standing::Out});
  const std::vector<HostIndex> places = next.map.places();
  for (const Next::Joining& host : next.joining) {
    add(next.map.hosts[places[host.host.value()].value()]);
    std::erase(out_, host.host);
  }
  current_ = next.map;
  used_ = next.number;
}

bool ElasticRounds::may_change() const {
  const auto may_hear = [](const Member& member) {
    return member.standing == Standing::Out || (member.standing == Standing::Runs && member.registered);
  };
  return std::all_of(members_.begin(), members_.end(), may_hear);
}

bool ElasticRounds::has_other_hosts_next() const {
  if (!may_change()) return false;
  const Result<plan::JobMap> next = following();
  if (!next) return false;
  return std::any_of(next->hosts.begin(), next->hosts.end(),
                     [this](const plan::MappedHost& host) { return host.ranks.empty() != ranks_on(host.id).empty(); });
}

bool ElasticRounds::hosts_have_changed() const { return used_ < most_resets_ && has_other_hosts_next(); }

bool ElasticRounds::lacks_a_reset() const { return used_ == most_resets_ && has_other_hosts_next(); }

Rank ElasticRounds::leader() const {
  const plan::RankAssignment& first = current_.ranks.front();
  return ranks_on(current_.hosts[first.host.value()].id)[first.local_rank.value()];
}

}  // namespace sml::attempt
