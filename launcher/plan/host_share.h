// The slots and the role that one host brings to a job in which each host chooses its own, as each torchrun agent does.
// Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sml::plan {

struct HostShare {
  std::uint32_t slots = 0;
  std::string role{"default"};
  void fields(auto& archive) { archive(slots, role); }
  bool operator==(const HostShare&) const = default;
};
// By the place of the host in the list of hosts.
using HostShares = std::vector<HostShare>;

}  // namespace sml::plan
