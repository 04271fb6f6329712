#include "common/os/affinity.h"

#include <cerrno>
#include <utility>

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

// Empty: no memory policy. MPOL_PREFERRED takes one node only.
std::vector<unsigned long> node_mask(std::span<const std::uint32_t> nodes, MemoryMode mode) {
  if (mode == MemoryMode::Default || nodes.empty()) return {};
  return mask_of(mode == MemoryMode::Prefer ? nodes.first(1) : nodes);
}

// The size of a mask as set_mempolicy(2) takes it: the kernel reads one bit less than this number.
long bits_of(const std::vector<unsigned long>& mask) { return static_cast<long>(mask.size() * kBits + 1); }

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

KernelCalls binding_calls(std::span<const std::uint32_t> cpus, std::span<const std::uint32_t> numa_nodes,
                          MemoryMode mode) {
  KernelCalls out;
  if (std::vector<unsigned long> mask = mask_of(cpus); !mask.empty()) {
    const auto bytes = static_cast<long>(mask.size() * sizeof(unsigned long));
    out.push_back({SYS_sched_setaffinity, {{0}, {bytes}, {0, std::move(mask)}}});
  }
  if (std::vector<unsigned long> mask = node_mask(numa_nodes, mode); !mask.empty()) {
    const long bits = bits_of(mask);
    out.push_back({SYS_set_mempolicy, {{number_of(mode)}, {0, std::move(mask)}, {bits}}});
  }
  return out;
}

std::string text_of(std::span<const KernelCall> calls) {
  std::string out;
  for (const KernelCall& call : calls) {
    out += std::to_string(call.number);
    for (const auto& [number, mask] : call.arguments) {
      if (mask.empty()) out += " " + std::to_string(number);
      for (std::size_t i = 0; i < mask.size(); ++i) out += (i == 0 ? " @" : ",") + std::to_string(mask[i]);
    }
    out += '\n';
  }
  return out;
}

int memory_mode_refused(std::span<const std::uint32_t> numa_nodes, MemoryMode mode) {
  const std::vector<unsigned long> nodes = node_mask(numa_nodes, mode);
  if (nodes.empty()) return 0;
  int own_mode = MPOL_DEFAULT;  // numactl(8) may have set another, which workers without a binding inherit
  std::vector<unsigned long> own_nodes(kNodeWords, 0);
  const bool knows_own =
      ::syscall(SYS_get_mempolicy, &own_mode, own_nodes.data(), kNodeWords * kBits, nullptr, 0UL) == 0;
  const bool taken = ::syscall(SYS_set_mempolicy, number_of(mode), nodes.data(), bits_of(nodes)) == 0;
  const int refused = taken ? 0 : errno;
  if (!knows_own || own_mode == MPOL_DEFAULT) {
    ::syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0UL);
  } else {
    ::syscall(SYS_set_mempolicy, own_mode, own_nodes.data(), kNodeWords * kBits);
  }
  return refused;
}

}  // namespace sml::os
