#include "launcher/inputs/hosts/host_shares.h"

#include <algorithm>

namespace sml {

Result<void> take_shares(plan::HostList& list, const plan::HostShares& shares) {
  if (shares.empty()) return {};
  const auto fits = [](const plan::HostShare& s) { return s.slots > 0 && s.slots <= plan::kMaxSlotsPerHost; };
  if (shares.size() != list.hosts.size() || !std::all_of(shares.begin(), shares.end(), fits)) {
    return Error(ErrorKind::Config, "a host claims a number of workers that it cannot have");
  }
  for (std::size_t i = 0; i < shares.size(); ++i) list.hosts[i].slots = shares[i].slots;
  return {};
}

bool roles_differ(const plan::HostShares& shares) {
  const auto differ = [](const plan::HostShare& a, const plan::HostShare& b) { return a.role != b.role; };
  return std::adjacent_find(shares.begin(), shares.end(), differ) != shares.end();
}

std::vector<plan::ProgramShare> programs_by_host(const plan::HostList& list, const plan::HostShares& shares) {
  std::vector<plan::ProgramShare> out;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    out.push_back({.np = std::nullopt, .hosts = {list.hosts[i]}, .role = shares[i].role});
  }
  return out;
}

}  // namespace sml
