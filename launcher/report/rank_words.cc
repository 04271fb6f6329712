#include "launcher/report/rank_words.h"

#include <algorithm>
#include <vector>

#include "common/core/text.h"

namespace sml::report {

namespace {

constexpr std::size_t kLongestSet = 400;  // bytes of a set; about a screenful

}  // namespace

std::string ranks_in_words(const RankSet& ranks, const plan::JobMap& map) {
  std::vector<std::string> hosts;
  for (const plan::MappedHost& host : map.hosts) {
    const auto among = [&ranks](Rank rank) { return ranks.contains(rank.value()); };
    if (std::any_of(host.ranks.begin(), host.ranks.end(), among)) hosts.push_back(host.host.name);
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + show(ranks.text(), kLongestSet) + " on " +
         show(fold_names(hosts), kLongestSet);
}

}  // namespace sml::report
