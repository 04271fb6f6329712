// Setters of option_values.h for the limits of the rank monitor.
#include <algorithm>
#include <chrono>

#include "launcher/options/values/option_values.h"
#include "launcher/options/values/value_reading.h"

namespace sml {

namespace {

using std::string_view;

constexpr std::size_t kMaxName = 200;  // the monitor's own limit
constexpr std::size_t kMaxSections = 1000;

}  // namespace

// NVRx writes None or null.
Result<std::uint64_t> heartbeat_limit(string_view value) {
  if (value == "none" || value == "None" || value == "null") return std::uint64_t{0};
  const Result<Duration> parsed = parse_duration(value);
  if (!parsed || *parsed < std::chrono::milliseconds(1)) {
    return bad_value(value, "a duration of 1 ms or more, written as 90, 90s, 1.5m, 2h or 250ms, or none");
  }
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(*parsed).count());
}

Result<std::vector<plan::SectionLimit>> section_limits(string_view value) {
  std::vector<plan::SectionLimit> sections;
  for (const string_view word : split(value, ',')) {
    const std::size_t colon = word.rfind(':');
    const string_view name = trim(word.substr(0, std::min(colon, word.size())), " ");
    if (colon == word.npos || name.empty() || name.size() > kMaxName) {
      return bad_value(word, "a section and its limit, such as step:60s or saving:none");
    }
    const Result<std::uint64_t> most = heartbeat_limit(trim(word.substr(colon + 1), " "));
    if (!most) return most.error();
    sections.push_back({std::string(name), *most});
  }
  if (sections.size() > kMaxSections) return bad_value(value, "a list of 1000 sections at most");
  return sections;
}

plan::RankMonitor monitor_of(const RankMonitorOptions& options) {
  const bool by_sections = !options.sections.empty() || options.outside_ms.value_or(0) > 0;
  const bool by_heartbeats = options.first_ms || options.heartbeat_ms;
  plan::RankMonitor out{.offer = options.offer, .sections = options.sections};
  if (by_sections && !by_heartbeats) out.first_ms = out.heartbeat_ms = 0;
  out.first_ms = options.first_ms.value_or(out.first_ms);
  out.heartbeat_ms = options.heartbeat_ms.value_or(out.heartbeat_ms);
  out.outside_ms = options.outside_ms.value_or(0);
  return out;
}

}  // namespace sml
