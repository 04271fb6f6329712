#include "launcher/dialin/coordinator/join_grace_period.h"

namespace sml::dialin {

JoinGracePeriod::Enough JoinGracePeriod::count(std::uint32_t hosts, TimePoint now) {
  hosts_ = hosts;
  if (hosts_ < least_) {
    called_.reset();
    return Enough::No;
  }
  if (called_) return Enough::Known;
  called_ = now;
  return Enough::JustNow;
}

JoinGracePeriod::Answer JoinGracePeriod::at(TimePoint now) const {
  if (hosts_ >= most_ || (called_ && now >= deadline())) return Answer::Begin;
  return now >= end_ ? Answer::TooFew : Answer::Wait;
}

}  // namespace sml::dialin
