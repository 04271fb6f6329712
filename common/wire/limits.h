// Limits beyond the size of a frame, which an agent keeps and the launcher enforces.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sml::wire {

inline constexpr std::size_t kMaxText = std::size_t{64} << 10;  // bytes of one text
inline constexpr std::size_t kMaxLeft = 256;                    // processes that a Cleared or LeftEnded names
inline constexpr std::size_t kMostPreflightErrors = 100;        // preflight errors that belong to no rank

inline constexpr std::size_t kMaxPiece = std::size_t{512} << 10;        // bytes of a FenceData or a Relay
inline constexpr std::size_t kMaxFenceName = 512;                       // bytes
inline constexpr std::size_t kMaxFences = 1024;                         // pending fences of one host
inline constexpr std::size_t kMaxFenceOfHost = std::size_t{16} << 20;   // bytes of one host in all its pending fences
inline constexpr std::size_t kMaxFence = std::size_t{48} << 20;         // bytes of all hosts in one fence
inline constexpr std::uint64_t kMaxRelayed = std::uint64_t{256} << 20;  // bytes that a host may relay in an attempt
inline constexpr std::uint64_t kMaxRelays = 1'000'000;                  // messages that a host may relay in an attempt

// bytes of the registration of a worker of hvd.elastic
inline constexpr std::size_t kMaxRegistration = std::size_t{16} << 10;
inline constexpr std::size_t kMaxHorovodAnswer = std::size_t{16} << 10;
inline constexpr std::uint32_t kHorovodTimeoutMs = 5000;  // time limit for a worker's answer

}  // namespace sml::wire
