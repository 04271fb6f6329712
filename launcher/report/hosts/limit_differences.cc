#include "launcher/report/hosts/limit_differences.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

#include "common/core/text.h"

namespace sml::report {

namespace {

struct ToldLimit {
  const char* name;
  std::uint64_t ReportedLimits::*limit;
  std::uint64_t unit;  // of ulimit; 1 for counts
};
constexpr std::array<ToldLimit, 3> kRows{{{"open files (ulimit -n)", &ReportedLimits::open_files, 1},
                                          {"stack size in KiB (ulimit -s)", &ReportedLimits::stack, 1024},
                                          {"locked memory in KiB (ulimit -l)", &ReportedLimits::locked_memory, 1024}}};

std::string in_words(std::uint64_t value, std::uint64_t unit) {
  return value == kNoLimit ? "unlimited" : std::to_string(value / unit);
}

// "open files (ulimit -n): 1024 on algo-[2-4], 65536 on algo-1"; empty if all are the same.
std::string difference(const ToldLimit& limit, const std::vector<HostLimits>& hosts) {
  std::map<std::uint64_t, std::vector<std::string>> by_value;
  for (const HostLimits& host : hosts) by_value[host.limits.*limit.limit].push_back(host.host);
  by_value.erase(0);
  if (by_value.size() < 2) return {};
  std::string out;
  for (const auto& [value, names] : by_value) {
    out += (out.empty() ? ": " : ", ") + in_words(value, limit.unit) + " on " + fold_names(names);
  }
  return limit.name + out;
}

}  // namespace

std::string limit_differences(const std::vector<HostLimits>& hosts) {
  std::string out;
  for (const ToldLimit& limit : kRows) {
    const std::string one = difference(limit, hosts);
    if (!one.empty()) out += (out.empty() ? "" : "; ") + one;
  }
  return out.empty() ? out : "limits of workers differ between hosts, as those of their logins do: " + out;
}

}  // namespace sml::report
