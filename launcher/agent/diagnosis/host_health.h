// Decides from the kernel's numbers whether workers can be started on a host. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/core/usage.h"
#include "common/plan/host_facts.h"

namespace sml::plan {

// No useful program runs with less memory, in bytes, than this.
inline constexpr std::uint64_t kLeastMemory = std::uint64_t{64} << 20;
// The least free space, in bytes; checked only on file systems larger than 16 times this.
inline constexpr std::uint64_t kLeastSpace = std::uint64_t{1} << 20;

// Returns the problems of a host, each as a part of a sentence; empty if there is none. A problem is short memory, or a
// full file system that the agent and its workers need. Unknown values are no problem.
std::vector<std::string> faults_of(const HostFacts& facts);

// The most memory of an accelerator, in bytes, that may be in use while no process computes on it.
inline constexpr std::uint64_t kHeldByNobody = std::uint64_t{512} << 20;

// Returns the names of the accelerators in `now` of which more memory is in use than kHeldByNobody, and more than in
// `before`: the values from before any worker of the job ran.
std::vector<std::string> accelerators_in_use(const std::vector<AcceleratorUse>& before,
                                             const std::vector<AcceleratorUse>& now);

}  // namespace sml::plan
