// Whether workers can be started on a host, by what its kernel says. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/core/usage.h"
#include "common/plan/host_facts.h"

namespace sml::plan {

// With less than this no program of any use runs.
inline constexpr std::uint64_t kLeastMemory = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kLeastSpace = std::uint64_t{1} << 20;  // of a file system that is larger than 16 of it

// Clauses: memory is short, or a file system that the agent and its workers need is full. What is not known is no
// fault.
std::vector<std::string> faults_of(const HostFacts& facts);

// What an accelerator holds at most when nobody computes there.
inline constexpr std::uint64_t kHeldByNobody = std::uint64_t{512} << 20;

// Those of `now` that hold more than they did before any worker ran; by name, as the job has had them all.
std::vector<std::string> accelerators_in_use(const std::vector<AcceleratorUse>& before,
                                             const std::vector<AcceleratorUse>& now);

}  // namespace sml::plan
