// What an agent holds itself to, and the launcher to it, beyond the size of a frame.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sml::wire {

inline constexpr std::size_t kMaxText = std::size_t{64} << 10;  // bytes of one text
inline constexpr std::size_t kMaxLeft = 256;                    // processes that a Cleared or LeftEnded names

inline constexpr std::size_t kMaxPiece = std::size_t{512} << 10;        // bytes of a FenceData, or a Relay
inline constexpr std::size_t kMaxFenceName = 512;                       // bytes
inline constexpr std::size_t kMaxFences = 1024;                         // of one host, that are not over
inline constexpr std::size_t kMaxFenceOfHost = std::size_t{16} << 20;   // bytes of one host in all of these
inline constexpr std::size_t kMaxFence = std::size_t{48} << 20;         // bytes of all hosts in one of them
inline constexpr std::uint64_t kMaxRelayed = std::uint64_t{256} << 20;  // bytes that a host has handed on in an attempt
inline constexpr std::uint64_t kMaxRelays = 1'000'000;                  // likewise

inline constexpr std::size_t kMaxRegistration = std::size_t{16} << 10;  // bytes of a worker's of hvd.elastic
inline constexpr std::size_t kMaxHorovodAnswer = std::size_t{16} << 10;
inline constexpr std::uint32_t kHorovodPatienceMs = 5000;  // for a worker's answer

}  // namespace sml::wire
