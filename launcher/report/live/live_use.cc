#include "launcher/report/live/live_use.h"

#include <tuple>

#include "launcher/report/live/status_text.h"

namespace sml::report {

namespace {

// The rows of `sml-run status`: one for each of wire::StatusReplies.
StatusPart status_part(const wire::DiskSpace& m) {
  return {.known = m.total_bytes > 0,
          .text = "disk " + bytes_text(m.free_bytes) + " free",
          .numbers = {{"disk_free_bytes", m.free_bytes}, {"disk_bytes", m.total_bytes}}};
}
StatusPart status_part(const wire::SharedMemory& m) {
  return {.known = m.total_bytes > 0,
          .text = "/dev/shm " + bytes_text(m.free_bytes) + " free",
          .numbers = {{"shm_free_bytes", m.free_bytes}, {"shm_bytes", m.total_bytes}}};
}

}  // namespace

std::vector<StatusPart> status_parts(const LiveUses& uses, const std::string& host) {
  const auto found = uses.hosts.find(host);
  const wire::StatusReplies replies = found != uses.hosts.end() ? found->second : wire::StatusReplies();
  return std::apply([](const auto&... reply) { return std::vector<StatusPart>{status_part(reply)...}; }, replies);
}

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
