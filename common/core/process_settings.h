// Settings that processes inherit beside variables: resource limits and the umask. Pure.
#pragma once
#include <cstdint>
#include <vector>

namespace sml {

inline constexpr std::uint64_t kNoLimit = UINT64_MAX;
inline constexpr std::uint32_t kOwnUmask = UINT32_MAX;

struct SoftLimit {
  std::int32_t resource = 0;  // RLIMIT_NOFILE, ...
  std::uint64_t value = kNoLimit;
  void fields(auto& a) { a(resource, value); }
  bool operator==(const SoftLimit&) const = default;
};

// Those that processes are to have, wherever they run. What is not named stays as it is there.
struct ProcessSettings {
  std::vector<SoftLimit> limits{};
  std::uint32_t umask = kOwnUmask;
  void fields(auto& a) { a(limits, umask); }
  bool operator==(const ProcessSettings&) const = default;
};

// Soft limits by which a program works on one host and fails on another.
struct TellingLimits {
  std::uint64_t open_files = 0;  // 0: not known
  std::uint64_t stack = 0;       // bytes
  std::uint64_t locked_memory = 0;
  void fields(auto& a) { a(open_files, stack, locked_memory); }
  bool operator==(const TellingLimits&) const = default;
};

}  // namespace sml
