// Resource usage of processes, and of a host.
//
// Usage covers a process and all those of its descendants that were waited for. The kernel reports it when the process
// has ended (getrusage(2)).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sml {

struct Usage {
  std::uint64_t user_us = 0;  // CPU time, microseconds
  std::uint64_t system_us = 0;
  std::uint64_t peak_memory = 0;  // bytes, resident, of the largest of these processes
  std::uint64_t read = 0;         // bytes read from storage, without those that were cached in memory
  std::uint64_t written = 0;
  bool operator==(const Usage&) const = default;
  void fields(auto& a) { a(user_us, system_us, peak_memory, read, written); }
};

// The current usage of a process and its descendants.
struct ProcessUse {
  std::uint64_t cpu_ms = 0;     // so far, including descendants that have ended and were waited for
  std::uint64_t memory = 0;     // bytes, resident; shared memory counts for each process
  std::uint32_t processes = 0;  // 0: the process has ended
  bool operator==(const ProcessUse&) const = default;
  void fields(auto& a) { a(cpu_ms, memory, processes); }
};

enum class UsageLook : std::uint8_t { No, Yes };  // whether agents measure their hosts while workers run

inline constexpr std::size_t kMostAccelerators = 64;  // of one host

struct AcceleratorUse {
  std::string name{};
  std::uint8_t busy_percent = 0;
  std::uint64_t memory_used = 0;  // bytes
  std::uint64_t memory_total = 0;
  bool operator==(const AcceleratorUse&) const = default;
  void fields(auto& a) { a(name, busy_percent, memory_used, memory_total); }
};

struct HostUse {
  std::uint64_t memory_used = 0;   // bytes that are not available to new programs
  std::uint64_t memory_total = 0;  // 0: unknown
  std::vector<AcceleratorUse> accelerators{};
  bool operator==(const HostUse&) const = default;
  void fields(auto& a) { a(memory_used, memory_total, accelerators); }
};

// True if the difference is visible: more than a hundredth of the memory, or at least 5 % of an accelerator.
bool differs(const HostUse& a, const HostUse& b);

}  // namespace sml
