// The limits on how long a rank may send nothing to its rank monitor, a service of the agent, before it counts as
// hanging. Names and defaults are those of NVIDIA's resiliency extension, NVRx
// (nvidia_resiliency_ext/fault_tolerance/config.py, 0.4.1).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sml::plan {

// A rank reports that it enters and leaves sections, each by name.
struct SectionLimit {
  std::string name;
  std::uint64_t limit_ms = 0;  // 0: no limit
  bool operator==(const SectionLimit&) const = default;
  void fields(auto& a) { a(name, limit_ms); }
};

enum class RankMonitorOffer : std::uint8_t { No, Yes };  // whether agents offer the service to their ranks

// In all fields, 0 means no limit.
struct RankMonitor {
  static constexpr std::uint64_t kFirstMs = 60ULL * 60 * 1000;
  static constexpr std::uint64_t kHeartbeatMs = 45ULL * 60 * 1000;

  RankMonitorOffer offer = RankMonitorOffer::No;
  std::uint64_t first_ms = kFirstMs;          // from the rank's InitMsg to its first heartbeat
  std::uint64_t heartbeat_ms = kHeartbeatMs;  // between two heartbeats
  std::uint64_t outside_ms = 0;               // in no section
  std::vector<SectionLimit> sections{};
  bool operator==(const RankMonitor&) const = default;
  void fields(auto& a) { a(offer, first_ms, heartbeat_ms, outside_ms, sections); }
  // See wire::Prepare::kNames.
  static constexpr std::string_view kNames[] = {"--rank-monitor", "--initial-rank-heartbeat-timeout",
                                                "--rank-heartbeat-timeout", "--rank-out-of-section-timeout",
                                                "--rank-section-timeouts"};
};

}  // namespace sml::plan
