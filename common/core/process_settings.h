// Settings other than variables that processes inherit: resource limits and the umask. Pure.
#pragma once
#include <cstdint>
#include <vector>

namespace sml {

inline constexpr std::uint64_t kNoLimit = UINT64_MAX;
inline constexpr std::uint32_t kOwnUmask = UINT32_MAX;  // not given

struct SoftLimit {
  std::int32_t resource = 0;  // RLIMIT_NOFILE, ...
  std::uint64_t value = kNoLimit;
  void fields(auto& a) { a(resource, value); }
  bool operator==(const SoftLimit&) const = default;
};

// The settings that processes get on every host. Limits and a umask that are not given stay as they are on the host.
struct ProcessSettings {
  std::vector<SoftLimit> limits{};
  std::uint32_t umask = kOwnUmask;
  void fields(auto& a) { a(limits, umask); }
  bool operator==(const ProcessSettings&) const = default;
};

// Soft limits whose differences between hosts explain why a program works on one and fails on another.
struct ReportedLimits {
  std::uint64_t open_files = 0;     // 0: unknown
  std::uint64_t stack = 0;          // bytes
  std::uint64_t locked_memory = 0;  // bytes
  void fields(auto& a) { a(open_files, stack, locked_memory); }
  bool operator==(const ReportedLimits&) const = default;
};

}  // namespace sml
