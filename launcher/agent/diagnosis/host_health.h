// Decides from the kernel's numbers whether workers can be started on a host. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/core/usage.h"
#include "common/plan/host_facts.h"

namespace sml::plan {

// No useful program runs with less memory than this.
inline constexpr std::uint64_t kLeastMemory = std::uint64_t{64} << 20;
// checked only on file systems larger than 16 times this
inline constexpr std::uint64_t kLeastSpace = std::uint64_t{1} << 20;

// Returns clauses: memory is short, or a file system that the agent and its workers need is full. Unknown values are
// not reported.
std::vector<std::string> faults_of(const HostFacts& facts);

// The most memory of an accelerator that may be in use while nobody computes on it.
inline constexpr std::uint64_t kHeldByNobody = std::uint64_t{512} << 20;

// The names of the accelerators in `now` that use more memory than kHeldByNobody and than in `before`, which holds the
// values from before any worker of the job ran.
std::vector<std::string> accelerators_in_use(const std::vector<AcceleratorUse>& before,
                                             const std::vector<AcceleratorUse>& now);

}  // namespace sml::plan
