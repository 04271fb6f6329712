#include "common/os/affinity.h"

#include <cerrno>

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sml::os {

namespace {

constexpr std::size_t kBits = sizeof(unsigned long) * 8;
constexpr std::size_t kMostWords = 1024;  // of a mask
constexpr std::size_t kNodeWords = 64;    // of a mask of NUMA nodes, of which Linux has 1024 at most

std::vector<unsigned long> mask_of(std::span<const std::uint32_t> numbers) {
  std::vector<unsigned long> mask;
  for (const std::uint32_t n : numbers) {
    if (mask.size() <= n / kBits) mask.resize(n / kBits + 1, 0);
    mask[n / kBits] |= 1UL << (n % kBits);
  }
  return mask;
}

int number_of(MemoryMode mode) {
  switch (mode) {
    case MemoryMode::Default: return MPOL_DEFAULT;
    case MemoryMode::Bind: return MPOL_BIND;
    case MemoryMode::Prefer: return MPOL_PREFERRED;
    case MemoryMode::Interleave: return MPOL_INTERLEAVE;
  }
  return MPOL_DEFAULT;
}

}  // namespace

std::vector<std::uint32_t> allowed_cpus() {
  std::vector<std::uint32_t> out;
  for (std::size_t words = 16; words <= kMostWords; words *= 2) {
    std::vector<unsigned long> mask(words, 0);
    const long bytes = ::syscall(SYS_sched_getaffinity, 0, words * sizeof(unsigned long), mask.data());
    if (bytes < 0 && errno == EINVAL) continue;  // the kernel has more CPUs than the mask has room for
    if (bytes < 0) break;
    for (std::uint32_t cpu = 0; cpu < words * kBits; ++cpu) {
      if ((mask[cpu / kBits] >> (cpu % kBits) & 1UL) != 0) out.push_back(cpu);
    }
    break;
  }
  return out;
}

ProcessBinding make_binding(std::span<const std::uint32_t> cpus, std::span<const std::uint32_t> numa_nodes,
                            MemoryMode mode) {
  ProcessBinding out{.cpus = mask_of(cpus), .nodes = {}, .memory_mode = number_of(mode)};
  if (mode == MemoryMode::Default || numa_nodes.empty()) return out;
  // MPOL_PREFERRED takes one node only
  out.nodes = mask_of(mode == MemoryMode::Prefer ? numa_nodes.first(1) : numa_nodes);
  return out;
}

int memory_mode_refused(std::span<const std::uint32_t> numa_nodes, MemoryMode mode) {
  const ProcessBinding binding = make_binding({}, numa_nodes, mode);
  if (binding.nodes.empty()) return 0;
  const auto bits = binding.nodes.size() * kBits + 1;  // the kernel reads one bit less than this number
  int own_mode = MPOL_DEFAULT;  // numactl(8) may have set another, which workers without a binding inherit
  std::vector<unsigned long> own_nodes(kNodeWords, 0);
  const bool knows_own =
      ::syscall(SYS_get_mempolicy, &own_mode, own_nodes.data(), kNodeWords * kBits, nullptr, 0UL) == 0;
  const bool taken = ::syscall(SYS_set_mempolicy, binding.memory_mode, binding.nodes.data(), bits) == 0;
  const int refused = taken ? 0 : errno;
  if (!knows_own || own_mode == MPOL_DEFAULT) {
    ::syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0UL);
  } else {
    ::syscall(SYS_set_mempolicy, own_mode, own_nodes.data(), kNodeWords * kBits);
  }
  return refused;
}

}  // namespace sml::os
