// --rank-monitor and its time limits, in milliseconds, as given.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "common/plan/rank_monitor.h"

namespace sml {

struct RankMonitorOptions {
  plan::RankMonitorOffer offer = plan::RankMonitorOffer::No;
  std::optional<std::uint64_t> first_ms;      // 0: no limit; nullopt: the default
  std::optional<std::uint64_t> heartbeat_ms;  // as first_ms
  std::optional<std::uint64_t> outside_ms;    // as first_ms
  std::vector<plan::SectionLimit> sections;
};

// The limits with their defaults. If there are only limits of sections, heartbeats get no limit: such a script sends
// none.
plan::RankMonitor monitor_of(const RankMonitorOptions& options);

}  // namespace sml
