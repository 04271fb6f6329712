// Detects whether the kernel has killed a process for lack of memory, by the counter of this process's cgroup; never
// guesses. Linux; agent only.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace sml::os {

class OomWatch {
 public:
  OomWatch() = default;  // without a counter: look() never returns evidence
  // By the counter of our cgroup, or of the nearest one above it that has one: `oom_kill` of memory.events (v2), else
  // of memory.oom_control (v1). A container sees its own limit there.
  static OomWatch of_this_process();

  struct Kills {
    std::uint64_t count = 0;  // since the last call that found some, or since the start
    std::string evidence;     // for people: the counter's file and its two values
  };
  std::optional<Kills> look();  // nullopt: none has been killed since the last call, or there is no counter

 private:
  std::string file_;  // empty: no counter
  std::uint64_t seen_ = 0;
};

}  // namespace sml::os
