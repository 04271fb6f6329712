// --rank-monitor and its limits, as they were given.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "common/plan/rank_monitor.h"

namespace sml {

struct RankMonitorOptions {
  plan::RankMonitorOffer offer = plan::RankMonitorOffer::No;
  std::optional<std::uint64_t> first_ms;      // 0: none; nothing: the default
  std::optional<std::uint64_t> heartbeat_ms;  // likewise
  std::optional<std::uint64_t> outside_ms;    // likewise
  std::vector<plan::SectionLimit> sections;
};

// Who gives limits of sections only has a script that sends no heartbeats.
plan::RankMonitor monitor_of(const RankMonitorOptions& options);

}  // namespace sml
