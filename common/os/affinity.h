// Processors and memory that this process may use, and that those which it starts shall use.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace sml::os {

// The processors of our affinity mask, which the cgroup's cpuset and whoever started us have narrowed; ascending.
std::vector<std::uint32_t> allowed_cpus();

// Where memory comes from: anywhere; only, or first, from some NUMA nodes; from all of them in turn.
enum class MemoryMode : std::uint8_t { Default, Bind, Prefer, Interleave };

// What a process is bound to, in the kernel's form, since nothing can be made between fork and exec.
struct ProcessBinding {
  std::vector<unsigned long> cpus;   // mask; empty: as ours
  std::vector<unsigned long> nodes;  // mask; empty: no memory policy
  int memory_mode = 0;               // MPOL_*
};

ProcessBinding make_binding(std::span<const std::uint32_t> cpus, std::span<const std::uint32_t> numa_nodes,
                            MemoryMode mode);

// 0, or the errno with which the kernel refuses a memory policy to this process, as in many containers.
int memory_mode_refused(std::span<const std::uint32_t> numa_nodes, MemoryMode mode);

}  // namespace sml::os
