// Peak resource usage of a host while the workers ran, from samples that its agent has sent. Pure.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/core/usage.h"

namespace sml::report {

struct HostPeaks {
  struct Accelerator {
    std::string name;
    std::uint8_t busy_peak = 0;     // percent
    std::uint64_t memory_peak = 0;  // bytes, as below
    std::uint64_t memory_total = 0;
  };
  std::size_t samples = 0;  // 0: no samples received
  std::uint64_t memory_peak = 0;
  HostUse last;  // the latest sample
  std::vector<Accelerator> accelerators;

  void add(const HostUse& use) {
    ++samples;
    last = use;
    memory_peak = std::max(memory_peak, use.memory_used);
    for (const AcceleratorUse& one : use.accelerators) {
      const auto is_it = [&](const Accelerator& known) { return known.name == one.name; };
      auto found = std::find_if(accelerators.begin(), accelerators.end(), is_it);
      if (found == accelerators.end()) {
        if (accelerators.size() >= kMostAccelerators) continue;
        found = accelerators.insert(accelerators.end(), Accelerator{.name = one.name});
      }
      found->busy_peak = std::max(found->busy_peak, one.busy_percent);
      found->memory_peak = std::max(found->memory_peak, one.memory_used);
      found->memory_total = one.memory_total;
    }
  }
};

}  // namespace sml::report
