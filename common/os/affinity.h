// CPU affinity, NUMA memory policy and niceness of processes that are to be started, and what the kernel permits this
// one.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace sml::os {

// The CPUs of this process's affinity mask, as narrowed by the cgroup's cpuset and by the parent process; ascending.
// Empty if the kernel does not report them.
std::vector<std::uint32_t> allowed_cpus();

// Memory policy: default; only from, or preferably from, some NUMA nodes; from all of them in turn.
enum class MemoryMode : std::uint8_t { Default, Bind, Prefer, Interleave };

// The binding of a process in the kernel's form, since nothing can be allocated between fork and exec.
// spawn_worker() applies it.
struct ProcessBinding {
  std::vector<unsigned long> cpus;   // mask; empty: inherit
  std::vector<unsigned long> nodes;  // mask; empty: no memory policy
  int memory_mode = 0;               // MPOL_*
  int nice = 0;                      // added to the niceness of the process that starts it
};

// Leaves ProcessBinding::nice 0. MemoryMode::Prefer uses the first node alone.
ProcessBinding make_binding(std::span<const std::uint32_t> cpus, std::span<const std::uint32_t> numa_nodes,
                            MemoryMode mode);

// Returns 0, or the errno with which the kernel refuses this memory policy to this process, as in many containers. The
// kernel can only be asked by setting it: the calling thread has the policy for a moment, and then its own again.
int memory_mode_refused(std::span<const std::uint32_t> numa_nodes, MemoryMode mode);

}  // namespace sml::os
