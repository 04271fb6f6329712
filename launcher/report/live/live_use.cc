#include "launcher/report/live/live_use.h"

namespace sml::report {

RankUses UseRates::add(const std::map<Rank, ProcessUse>& look, TimePoint now) {
  const double elapsed_ms = std::chrono::duration<double, std::milli>(now - looked_).count();
  const bool has_rates = has_base(now);
  RankUses out;
  for (const auto& [rank, use] : look) {
    if (use.processes == 0) continue;
    LiveUse one{.cpu_ms = use.cpu_ms, .memory = use.memory, .processes = use.processes};
    const auto before = before_.find(rank);
    // A smaller value belongs to another process, of the next attempt.
    if (has_rates && before != before_.end() && before->second.cpu_ms <= use.cpu_ms) {
      one.cpu_percent = static_cast<double>(use.cpu_ms - before->second.cpu_ms) * 100 / elapsed_ms;
    }
    out.emplace(rank, one);
  }
  before_ = look;
  looked_ = now;
  return out;
}

}  // namespace sml::report
