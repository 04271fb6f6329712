// What a process has cost: it and all those of its descendants that were waited for. The kernel tells it at the end
// (getrusage(2)).
#pragma once
#include <cstdint>

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

}  // namespace sml
