#include "launcher/attempt/elastic_rounds.h"

#include <algorithm>
#include <utility>

namespace sml::attempt {

namespace {

// "rank,size,local_rank,local_size,cross_rank,cross_size".
std::string numbers_of(const plan::RankAssignment& a, std::uint32_t size) {
  std::string out = std::to_string(a.rank.value());
  for (const std::uint32_t number : {size, a.local_rank.value(), a.local_size, a.cross_rank, a.cross_size}) {
    out += "," + std::to_string(number);
  }
  return out;
}

}  // namespace

// Hosts that wait have no workers before all start anew.
ElasticRounds::ElasticRounds(plan::JobMap map, plan::LeastSize least, std::uint32_t resets)
    : first_(std::move(map)), current_(first_), least_(least), most_resets_(resets), members_(first_.world_size()) {
  for (plan::MappedHost& host : current_.hosts) {
    if (host.duty == plan::HostDuty::Spare) host.duty = plan::HostDuty::Out;
  }
}

std::optional<Rank> ElasticRounds::rank_of(std::string_view slot) const {
  for (const plan::RankAssignment& a : first_.ranks) {
    if (slot_of(a.rank) == slot) return a.rank;
  }
  return std::nullopt;
}

std::string ElasticRounds::slot_of(Rank rank) const {
  const plan::RankAssignment& a = first_.ranks[rank.value()];
  return first_.hosts[a.host.value()].host.name + ":" + std::to_string(a.local_rank.value());
}

ElasticRounds::Member* ElasticRounds::find(Rank rank) {
  return rank.value() < members_.size() ? &members_[rank.value()] : nullptr;
}

std::uint32_t ElasticRounds::count(Standing standing) const {
  const auto stands = [standing](const Member& member) { return member.standing == standing; };
  return static_cast<std::uint32_t>(std::count_if(members_.begin(), members_.end(), stands));
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

void ElasticRounds::host_lost(HostIndex host) {
  for (const Rank rank : first_.hosts[host.value()].ranks) ended(rank, End::Failure);
}

bool ElasticRounds::some_may_go_on() const {
  std::size_t live = 0;
  for (const Member& member : members_) {
    const bool lives = member.standing == Standing::Runs || member.standing == Standing::Ready;
    if (lives && !member.registered) return false;
    live += lives ? 1 : 0;
  }
  return live > 0 && used_ < most_resets_ && following().has_value();
}

ElasticRounds::Step ElasticRounds::look() {
  if (count(Standing::Runs) > 0) return GoesOn{};
  const std::uint32_t ready = count(Standing::Ready);
  if (count(Standing::Succeeded) > 0) return ready > 0 ? Step(Finished{ready}) : Step(GoesOn{});
  if (ready == 0 || used_ == most_resets_) return GivenUp{};
  return next();
}

bool ElasticRounds::has_failed(HostIndex host) const {
  const std::vector<Rank>& ranks = first_.hosts[host.value()].ranks;
  return std::any_of(ranks.begin(), ranks.end(),
                     [this](Rank rank) { return members_[rank.value()].standing == Standing::Failed; });
}

// A host on which one has failed is out.
Result<plan::JobMap> ElasticRounds::following() const {
  std::vector<HostId> out;
  for (std::uint32_t h = 0; h < first_.hosts.size(); ++h) {
    if (has_failed(HostIndex(h))) out.push_back(first_.hosts[h].id);
  }
  return plan::regroup(current_, out, least_);
}

ElasticRounds::Step ElasticRounds::next() {
  Result<plan::JobMap> map = following();
  if (!map) return GivenUp{};
  Next out;
  for (std::uint32_t h = 0; h < first_.hosts.size(); ++h) {
    if (!has_failed(HostIndex(h))) continue;
    const std::vector<Rank>& ranks = first_.hosts[h].ranks;
    out.out.emplace_back(h);
    out.left.insert(out.left.end(), ranks.begin(), ranks.end());
  }
  current_ = std::move(*map);
  for (const Rank rank : out.left) members_[rank.value()].standing = Standing::Out;
  out_.insert(out_.end(), out.out.begin(), out.out.end());
  for (std::size_t h = 0; h < first_.hosts.size(); ++h) {
    const std::vector<Rank>& now = current_.hosts[h].ranks;  // all that it had, or none
    for (std::size_t i = 0; i < now.size(); ++i) {
      const Rank rank = first_.hosts[h].ranks[i];
      members_[rank.value()].standing = Standing::Runs;
      out.members.push_back({rank, numbers_of(current_.ranks[now[i].value()], current_.world_size())});
    }
  }
  out.number = ++used_;
  return out;
}

}  // namespace sml::attempt
