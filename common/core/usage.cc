#include "common/core/usage.h"

#include <algorithm>

namespace sml {

namespace {

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return std::max(a, b) - std::min(a, b); }

bool one_differs(const AcceleratorUse& a, const AcceleratorUse& b) {
  return a.name != b.name || distance(a.busy_percent, b.busy_percent) >= 5 ||
         distance(a.memory_used, b.memory_used) > a.memory_total / 100;
}

}  // namespace

bool differs(const HostUse& a, const HostUse& b) {
  if (a.memory_total != b.memory_total || distance(a.memory_used, b.memory_used) > a.memory_total / 100) return true;
  return !std::equal(a.accelerators.begin(), a.accelerators.end(), b.accelerators.begin(), b.accelerators.end(),
                     [](const AcceleratorUse& x, const AcceleratorUse& y) { return !one_differs(x, y); });
}

}  // namespace sml
