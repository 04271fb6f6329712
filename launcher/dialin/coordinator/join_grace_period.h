// Decides when the hosts of an elastic job are complete: at the maximum, or after a grace period once the minimum is
// here. Pure: takes the number of hosts and the time, returns whether the job begins.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"

namespace sml::dialin {

class JoinGracePeriod {
 public:
  // `patience`: the wait for the `least` hosts; `wait`: the wait for more, once these are here. As in torch's
  // rendezvous, whose last call begins when there are enough and is not extended by those who come
  // (torch/distributed/elastic/rendezvous/dynamic_rendezvous.py).
  JoinGracePeriod(std::uint32_t least, std::uint32_t most, Duration patience, Duration wait, TimePoint now)
      : least_(least), most_(most), wait_(wait), end_(now + patience) {}

  // The number of hosts that are here now, the coordinator included. JustNow: there were too few before.
  enum class Enough : std::uint8_t { No, JustNow, Known };
  Enough count(std::uint32_t hosts, TimePoint now);
  enum class Answer : std::uint8_t { Wait, Begin, TooFew };
  Answer at(TimePoint now) const;
  TimePoint deadline() const { return called_ ? std::min(*called_ + wait_, end_) : end_; }
  std::uint32_t hosts() const { return hosts_; }

 private:
  std::uint32_t least_;
  std::uint32_t most_;
  Duration wait_;
  TimePoint end_;
  std::uint32_t hosts_ = 1;
  std::optional<TimePoint> called_;  // when the grace period began; nullopt: too few hosts
};

}  // namespace sml::dialin
