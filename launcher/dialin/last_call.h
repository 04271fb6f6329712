// How many of the hosts that may come make the job: when the last of them are called. Pure: told who is here and when,
// answers whether the job begins.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"

namespace sml::dialin {

class LastCall {
 public:
  // `patience`: for the least; `wait`: for more when these are here. As torch's rendezvous, whose last call begins when
  // there are enough and is not put off by those who come (torch/distributed/elastic/rendezvous/dynamic_rendezvous.py).
  LastCall(std::uint32_t least, std::uint32_t most, Duration patience, Duration wait, TimePoint now)
      : least_(least), most_(most), wait_(wait), end_(now + patience) {}

  // So many are here now, the head with them. JustNow: they had been too few.
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
  std::optional<TimePoint> called_;  // the last; nothing: there are not enough
};

}  // namespace sml::dialin
