#include "launcher/report/status_json.h"

namespace sml::report {

nlohmann::ordered_json status_json(const ExitStatus& status) {
  nlohmann::ordered_json out;
  out["text"] = describe(status);
  if (const auto* exited = std::get_if<Exited>(&status)) {
    out["exit_code"] = exited->code;
  } else if (const auto* signaled = std::get_if<Signaled>(&status)) {
    out["signal"] = signaled->signo;
    out["core_dumped"] = signaled->core_dumped;
  }
  return out;
}

nlohmann::ordered_json usage_json(const Usage& usage) {
  nlohmann::ordered_json out;
  out["user_s"] = static_cast<double>(usage.user_us) / 1e6;
  out["system_s"] = static_cast<double>(usage.system_us) / 1e6;
  out["peak_memory_bytes"] = usage.peak_memory;
  out["read_bytes"] = usage.read;
  out["written_bytes"] = usage.written;
  return out;
}

nlohmann::ordered_json peaks_json(const HostPeaks& peaks) {
  nlohmann::ordered_json out;
  if (peaks.samples == 0) return out;
  out["memory_bytes"] = peaks.last.memory_total;
  out["peak_memory_used_bytes"] = peaks.memory_peak;
  out["accelerators"] = nlohmann::ordered_json::array();
  for (const HostPeaks::Accelerator& one : peaks.accelerators) {
    nlohmann::ordered_json of_one;
    of_one["name"] = one.name;
    of_one["peak_busy_percent"] = one.busy_peak;
    of_one["peak_memory_used_bytes"] = one.memory_peak;
    of_one["memory_bytes"] = one.memory_total;
    out["accelerators"].push_back(std::move(of_one));
  }
  return out;
}

nlohmann::ordered_json goodput_json(const GoodputSums& sums) {
  nlohmann::ordered_json out;
  out["ratio"] = sums.ratio();
  out["wall_s"] = in_seconds(sums.whole());
  out["good_s"] = in_seconds(sums.good);
  out["start_s"] = in_seconds(sums.start);
  out["rendezvous_s"] = in_seconds(sums.rendezvous);
  out["lost_s"] = in_seconds(sums.lost);
  out["teardown_s"] = in_seconds(sums.teardown);
  out["waiting_s"] = in_seconds(sums.waiting);
  out["open_s"] = in_seconds(sums.open);
  return out;
}

}  // namespace sml::report
