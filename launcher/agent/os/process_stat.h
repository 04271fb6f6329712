// The numbers of one line of /proc about a process or thread. Linux.
#pragma once
#include <cstdint>
#include <string>

#include <sys/types.h>

namespace sml::os {

struct ProcessStat {
  char state = 0;              // R, S, D, T, Z, ...; 0: there is no such process
  std::uint64_t ticks = 0;     // of CPU time, user and system
  std::uint64_t children = 0;  // of CPU time of children that have ended and were waited for
  std::uint32_t threads = 0;
  std::uint64_t pages = 0;  // of resident memory
};

// `folder`: "/proc/PID" or "/proc/PID/task/TID".
ProcessStat process_stat(const std::string& folder);

// Converts clock ticks of the kernel to milliseconds.
std::uint64_t milliseconds_of(std::uint64_t ticks);

}  // namespace sml::os
