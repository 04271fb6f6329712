// CPU affinity, NUMA memory policy and the like of processes that are to be started, and what the kernel permits this
// one.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sml::os {

// The CPUs of this process's affinity mask, as narrowed by the cgroup's cpuset and by the parent process; ascending.
// Empty if the kernel does not report them.
std::vector<std::uint32_t> allowed_cpus();

// Memory policy: default; only from, or preferably from, some NUMA nodes; from all of them in turn.
enum class MemoryMode : std::uint8_t { Default, Bind, Prefer, Interleave };

// A system call by which a new process sets a property of its own before its program is executed, and which returns 0
// if it succeeds. It is complete, since nothing can be allocated between fork and exec.
struct KernelCall {
  struct Argument {
    long number = 0;
    std::vector<unsigned long> mask{};  // not empty: its address is the argument
  };
  long number = 0;  // SYS_*
  Argument arguments[3] = {};
};
using KernelCalls = std::vector<KernelCall>;

// Binds a process to these CPUs, and its memory to these NUMA nodes; none: it inherits them. MemoryMode::Prefer uses
// the first node alone.
KernelCalls binding_calls(std::span<const std::uint32_t> cpus, std::span<const std::uint32_t> numa_nodes,
                          MemoryMode mode);

// The calls as text, for a program in another language: a line for each, with its number and its arguments in decimal.
// A mask is "@" and its words with commas between them.
std::string text_of(std::span<const KernelCall> calls);

// Returns 0, or the errno with which the kernel refuses this memory policy to this process, as in many containers. The
// kernel can only be asked by setting it: the calling thread has the policy for a moment, and then its own again.
int memory_mode_refused(std::span<const std::uint32_t> numa_nodes, MemoryMode mode);

}  // namespace sml::os
