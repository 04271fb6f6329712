// Distinct types for numbers that must not be confused. A Strong<> can be compared and hashed; it has no arithmetic.
// Pure.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace sml {

template <class Tag>
class Strong {
 public:
  constexpr Strong() = default;
  constexpr explicit Strong(std::uint32_t value) : value_(value) {}
  constexpr std::uint32_t value() const { return value_; }
  constexpr auto operator<=>(const Strong&) const = default;

 private:
  std::uint32_t value_ = 0;
};

// 0..world size-1, unique in the job; of ranks that MPI has spawned, in places also the number in their own world.
using Rank = Strong<struct RankTag>;
using LocalRank = Strong<struct LocalRankTag>;  // index among the ranks of one host
// Each attempt has a plan of its own. HostIndex: position in the host list of one plan, which includes hosts without
// ranks. HostId: the same host in all attempts, whatever its position.
using HostIndex = Strong<struct HostIndexTag>;
using HostId = Strong<struct HostIdTag>;

}  // namespace sml

template <class Tag>
struct std::hash<sml::Strong<Tag>> {
  std::size_t operator()(sml::Strong<Tag> v) const noexcept { return v.value(); }
};
