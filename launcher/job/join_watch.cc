#include "launcher/job/join_watch.h"

#include <algorithm>

#include "common/core/text.h"

namespace sml::job {

namespace {

constexpr std::size_t kMostHosts = 10;  // named; the others are counted

// Of sorted ranks: "5, 9-11".
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

JoinWatch::Ask JoinWatch::store_says(std::uint64_t joined, Duration since_first, TimePoint now) {
  asking_ = Ask::Nobody;
  joined_ = joined;
  if (joined >= world_size_) return Ask::Nobody;
  if (joined > 0 && since_first >= patience_) return Ask::Everybody;
  due_ = now + (joined == 0 ? patience_ : patience_ - since_first);
  return Ask::Nobody;
}

std::string JoinWatch::host_says(const std::string& host, const std::vector<Rank>& missing) {
  if (unanswered_ == 0) return {};
  if (!missing.empty()) missing_.push_back({host, missing});
  if (!missing.empty()) std::sort(missing_.back().ranks.begin(), missing_.back().ranks.end());
  return --unanswered_ == 0 ? sentence() : std::string();
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
  return who + (count == 1 ? " has" : " have") + " not joined the process group after " + format_duration(patience_) +
         " (" + std::to_string(joined_) + " of " + std::to_string(world_size_) + " have; --join-warn)";
}

}  // namespace sml::job
