// The slots and the role that a host adds to a job whose hosts each choose their own, as torch's agents do. Pure.
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
// By place.
using HostShares = std::vector<HostShare>;

}  // namespace sml::plan
