// Decides when a job with a variable number of hosts begins: when the maximum is here, or a grace period after the
// minimum has come. Pure: takes the number of hosts and the time.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"

namespace sml::dialin {

class JoinGracePeriod {
 public:
  // `timeout`: the longest time from `now` until the job begins or fails. `wait`: the grace period for more hosts once
  // `least` are here. As in torch's rendezvous, hosts that come during the grace period do not extend it ("last call"
  // in torch/distributed/elastic/rendezvous/dynamic_rendezvous.py).
  JoinGracePeriod(std::uint32_t least, std::uint32_t most, Duration timeout, Duration wait, TimePoint now)
      : least_(least), most_(most), wait_(wait), end_(now + timeout) {}

  // Whether there are enough hosts. JustNow: there are, and the grace period begins with this call. Known: there were
  // enough before.
  enum class Enough : std::uint8_t { No, JustNow, Known };
  // `hosts`: the number that are here now, the coordinator included. It may have fallen: below the minimum it ends the
  // grace period.
  Enough count(std::uint32_t hosts, TimePoint now);
  // Wait: ask again at deadline(). TooFew: the timeout has passed, and the job fails.
  enum class Answer : std::uint8_t { Wait, Begin, TooFew };
  Answer at(TimePoint now) const;
  // When at() returns something other than Wait at the latest, if the number of hosts does not change.
  TimePoint deadline() const { return called_ ? std::min(*called_ + wait_, end_) : end_; }
  // As last given to count(); 1 before.
  std::uint32_t hosts() const { return hosts_; }

 private:
  std::uint32_t least_;
  std::uint32_t most_;
  Duration wait_;
  TimePoint end_;  // of the timeout
  std::uint32_t hosts_ = 1;
  std::optional<TimePoint> called_;  // when the grace period began; nullopt: there are too few hosts
};

}  // namespace sml::dialin
