// Distinct types for numbers that must not be confused. A Strong<> can be compared and hashed; it has no arithmetic.
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

using Rank = Strong<struct RankTag>;            // 0..world size-1, unique in the job
using LocalRank = Strong<struct LocalRankTag>;  // index among the ranks of one host
using HostIndex = Strong<struct HostIndexTag>;  // position in a plan's host list, which includes hosts without ranks
using HostId = Strong<struct HostIdTag>;  // identifies a host throughout the job, whatever its position in later plans

}  // namespace sml

template <class Tag>
struct std::hash<sml::Strong<Tag>> {
  std::size_t operator()(sml::Strong<Tag> v) const noexcept { return v.value(); }
};
