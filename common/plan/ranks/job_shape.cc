#include "common/plan/ranks/job_shape.h"

#include <algorithm>

namespace sml::plan {

std::uint32_t JobShape::size() const {
  std::uint64_t out = 0;
  for (const RankBlock& block : blocks) {
    out += std::uint64_t{block.first.count} * block.hosts;
    if (out > kMaxWorldSize) return 0;
  }
  return static_cast<std::uint32_t>(out);
}

void JobShape::add(const RankRun& run) {
  if (!blocks.empty()) {
    RankBlock& last = blocks.back();
    const RankRun next{last.first.host + last.hosts, last.first.program, last.first.count};
    if (run == next) {
      ++last.hosts;
      return;
    }
  }
  blocks.push_back({run});
}

std::vector<RankRun> JobShape::runs() const {
  std::vector<RankRun> out;
  if (size() == 0) return out;
  for (const RankBlock& block : blocks) {
    if (block.first.count == 0) continue;
    for (std::uint32_t i = 0; i < block.hosts; ++i) {
      out.push_back({block.first.host + i, block.first.program, block.first.count});
    }
  }
  return out;
}

std::optional<RankRun> JobShape::run_of(Rank rank) const {
  std::uint64_t left = rank.value();
  for (const RankBlock& block : blocks) {
    const RankRun& run = block.first;
    const std::uint64_t here = std::uint64_t{run.count} * block.hosts;
    if (left < here) {
      const auto before = static_cast<std::uint32_t>(left / run.count);
      return RankRun{run.host + before, run.program, run.count};
    }
    left -= here;
  }
  return std::nullopt;
}

JobShape shape_of(const JobMap& map) {
  constexpr std::uint32_t kNoPlace = ~0U;
  JobShape out;
  std::vector<std::uint32_t> place(map.hosts.size(), kNoPlace);
  std::vector<bool> has_members(map.hosts.size());
  for (std::uint32_t r = 0; r < map.members(); ++r) has_members[map.ranks[r].host.value()] = true;
  for (std::size_t i = 0; i < map.hosts.size(); ++i) {
    out.slots += map.hosts[i].slots;
    if (map.hosts[i].duty == HostDuty::Work) out.universe += map.hosts[i].slots;
    if (!has_members[i]) continue;
    place[i] = static_cast<std::uint32_t>(out.hosts.size());
    out.hosts.push_back(map.hosts[i].host.name);
  }
  RankRun run;
  for (std::uint32_t r = 0; r < map.members(); ++r) {
    const RankAssignment& rank = map.ranks[r];
    const std::uint32_t host = place[rank.host.value()];
    if (run.count > 0 && (run.host != host || run.program != rank.program)) {
      out.add(run);
      run.count = 0;
    }
    run = {host, rank.program, run.count + 1};
  }
  if (run.count > 0) out.add(run);
  out.slots = std::max(out.slots, map.members());
  out.universe = std::max(out.universe, map.members());
  return out;
}

namespace {

struct Block {
  std::uint32_t host = 0;   // the first host
  std::uint32_t hosts = 0;  // the number of consecutive hosts
  std::uint32_t ranks = 0;  // the number of ranks on each host
};

// Ranks of one host that follow each other, whatever they run: host, by its first rank, and number.
std::vector<Block> host_runs(const JobShape& shape) {
  std::vector<Block> out;
  std::vector<std::uint32_t> hosts;
  for (const RankRun& run : shape.runs()) {
    const auto known = std::find(hosts.begin(), hosts.end(), run.host);
    const auto host = static_cast<std::uint32_t>(known - hosts.begin());
    if (known == hosts.end()) hosts.push_back(run.host);
    if (!out.empty() && out.back().host == host) {
      out.back().ranks += run.count;
    } else {
      out.push_back({host, 1, run.count});
    }
  }
  return out;
}

// The smallest number of first runs whose repetition gives all runs; the last repetition may end early.
std::size_t period_of(const std::vector<Block>& runs) {
  const auto repeats = [&runs](std::size_t period) {
    for (std::size_t i = period; i < runs.size(); ++i) {
      const Block& first = runs[i - period];
      const bool last = i + 1 == runs.size();
      const bool fits = runs[i].ranks == first.ranks || (last && runs[i].ranks < first.ranks);
      if (runs[i].host != first.host || !fits) return false;
    }
    return true;
  };
  for (std::size_t period = 1; period < runs.size(); ++period) {
    if (runs[period].host == runs.front().host && repeats(period)) return period;
  }
  return runs.size();
}

}  // namespace

std::string process_mapping(const JobShape& shape, std::size_t most) {
  const std::vector<Block> runs = host_runs(shape);
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < period_of(runs); ++i) {
    const bool next = !blocks.empty() && blocks.back().ranks == runs[i].ranks &&
                      blocks.back().host + blocks.back().hosts == runs[i].host;
    if (next) {
      ++blocks.back().hosts;
    } else {
      blocks.push_back(runs[i]);
    }
  }
  std::string out = "(vector";
  for (const Block& block : blocks) {
    out +=
        ",(" + std::to_string(block.host) + "," + std::to_string(block.hosts) + "," + std::to_string(block.ranks) + ")";
    if (out.size() >= most) return {};
  }
  return out + ")";
}

}  // namespace sml::plan
