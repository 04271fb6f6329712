// Has the kernel killed for lack of memory? Evidence from the cgroup of this process, never a guess. Linux; agent only.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace sml::os {

// Finds the counter of our cgroup: `oom_kill` of memory.events (v2), else of memory.oom_control (v1). A container sees
// its own limit there. Where neither can be read there is no evidence and kills() stays 0.
class OomWatch {
 public:
  OomWatch();

  struct Kills {
    std::uint64_t count = 0;  // since the last call that found some, or since the start
    std::string evidence;
  };
  std::optional<Kills> look();

 private:
  std::string file_;
  std::uint64_t seen_ = 0;
};

// The cgroup path of one hierarchy in the text of /proc/PID/cgroup: "" names v2's. Pure, for tests.
std::optional<std::string> cgroup_path(std::string_view proc_cgroup, std::string_view controller);

}  // namespace sml::os
