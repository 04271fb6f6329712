#include "launcher/attempt/rendezvous/join_watch.h"

#include <algorithm>
#include <utility>

#include "common/core/text.h"

namespace sml::attempt {

namespace {

constexpr std::size_t kMostHosts = 10;  // named; the others are counted

// Formats sorted ranks, such as "5, 9-11".
std::string ranges(const std::vector<Rank>& ranks) {
  std::string out;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1].value() == ranks[last].value() + 1) ++last;
    out += (out.empty() ? "" : ", ") + std::to_string(ranks[i].value());
    if (last > i) out += (last > i + 1 ? "-" : ", ") + std::to_string(ranks[last].value());
    i = last + 1;
  }
  return out;
}

}  // namespace

JoinWatch::Ask JoinWatch::on_store_reply(std::uint64_t joined, Duration since_first, TimePoint now) {
  asking_ = Ask::Nobody;
  joined_ = joined;
  if (joined == 0) ++empty_answers_;
  if (joined >= world_size_) return Ask::Nobody;
  if (joined > 0 && since_first >= timeout_) return Ask::Everybody;
  due_ = now + (joined == 0 ? timeout_ : timeout_ - since_first);
  return Ask::Nobody;
}

// Not before the second empty reply: a program may load for long before it joins.
std::string JoinWatch::why_nobody(std::uint64_t with_torch) {
  constexpr std::uint32_t kEnough = 2;
  if (joined_ > 0 || with_torch == 0 || empty_answers_ < kEnough || std::exchange(said_why_, true)) return {};
  return "no worker has joined the process group after " + format_duration(empty_answers_ * timeout_) +
         "; one that names an address of its own (init_method=tcp://..., or MASTER_PORT set by the program) may wait "
         "there for ever with torch up to 2.13, as under torchrun: --no-torch-store lets rank 0 open the store "
         "(--join-warn)";
}

std::string JoinWatch::host_says(const std::string& host, const std::vector<Rank>& missing, std::uint64_t connected,
                                 TimePoint now) {
  if (unanswered_ == 0) return {};
  connected_ += std::min<std::uint64_t>(connected, world_size_);
  if (!missing.empty()) missing_.push_back({host, missing});
  if (!missing.empty()) std::sort(missing_.back().ranks.begin(), missing_.back().ranks.end());
  return --unanswered_ == 0 ? conclude(now) : std::string();
}

std::string JoinWatch::conclude(TimePoint now) {
  if (store_ == Store::OfAgent) return sentence();
  joined_ = std::exchange(connected_, 0);
  if (missing_.empty()) {
    if (joined_ == 0) due_ = now + timeout_;  // the workers have not begun, for example while a preload still imports
    return {};
  }
  if (joined_ > 0 && std::exchange(some_seen_, true)) return sentence();
  some_seen_ = joined_ > 0;
  missing_.clear();
  due_ = now + timeout_;
  return {};
}

std::string JoinWatch::sentence() const {
  if (missing_.empty()) return {};
  std::vector<Missing> sorted = missing_;
  std::sort(sorted.begin(), sorted.end(),
            [](const Missing& a, const Missing& b) { return a.ranks.front() < b.ranks.front(); });
  std::string who;
  std::size_t count = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    count += sorted[i].ranks.size();
    if (i >= kMostHosts) continue;
    who += (i == 0 ? "" : ", ");
    who += (sorted[i].ranks.size() == 1 ? "rank " : "ranks ") + ranges(sorted[i].ranks) + " on " + sorted[i].host;
  }
  if (sorted.size() > kMostHosts) who += " and those of " + std::to_string(sorted.size() - kMostHosts) + " more hosts";
  return who + (count == 1 ? " has" : " have") + " not joined the process group after " + format_duration(timeout_) +
         " (" + std::to_string(joined_) + " of " + std::to_string(world_size_) + " have; --join-warn)";
}

}  // namespace sml::attempt
