// What processes cost, and how much of a host is in use.
//
// What a process has cost: it and all those of its descendants that were waited for. The kernel tells it at the end
// (getrusage(2)).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sml {

struct Usage {
  std::uint64_t user_us = 0;  // CPU time, microseconds
  std::uint64_t system_us = 0;
  std::uint64_t peak_memory = 0;  // bytes, resident, of the largest of those processes
  std::uint64_t read = 0;         // bytes, from storage; what was in memory already is not counted
  std::uint64_t written = 0;
  bool operator==(const Usage&) const = default;
  void fields(auto& a) { a(user_us, system_us, peak_memory, read, written); }
};

// What a process and those below it use at one moment.
struct ProcessUse {
  std::uint64_t cpu_ms = 0;     // so far, with those that have ended and were waited for
  std::uint64_t memory = 0;     // bytes, resident; what processes share counts for each of them
  std::uint32_t processes = 0;  // 0: it has gone
  bool operator==(const ProcessUse&) const = default;
  void fields(auto& a) { a(cpu_ms, memory, processes); }
};

enum class UsageLook : std::uint8_t { No, Yes };  // whether agents look at their hosts while workers run

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
  std::uint64_t memory_used = 0;   // bytes that new programs cannot have
  std::uint64_t memory_total = 0;  // 0: it is not known
  std::vector<AcceleratorUse> accelerators{};
  bool operator==(const HostUse&) const = default;
  void fields(auto& a) { a(memory_used, memory_total, accelerators); }
};

// By so much that it can be seen: a hundredth of the memory, or 5 % of an accelerator.
bool differs(const HostUse& a, const HostUse& b);

}  // namespace sml
