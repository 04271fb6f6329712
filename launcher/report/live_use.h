// What each rank uses while the job runs: CPU time as a share of one core, made of two looks at it. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <optional>

#include "common/core/clock.h"
#include "common/core/strong.h"
#include "common/core/usage.h"

namespace sml::report {

struct LiveUse {
  std::optional<double> cpu_percent{};  // of one core, between two looks; empty: there was one only
  std::uint64_t memory = 0;             // bytes, resident
  std::uint32_t processes = 0;
};
using LiveUses = std::map<Rank, LiveUse>;  // of those that run and have been told of

class UseRates {
 public:
  static constexpr Duration kShortest = std::chrono::milliseconds(200);  // between two looks, to say anything of CPU
  static constexpr Duration kLongest = std::chrono::seconds(10);

  // The look before this one is as far away as it should be.
  bool has_base(TimePoint now) const { return now - looked_ >= kShortest && now - looked_ <= kLongest; }
  // A look has come; it is the base of the next.
  LiveUses add(const std::map<Rank, ProcessUse>& look, TimePoint now);

 private:
  std::map<Rank, ProcessUse> before_;
  TimePoint looked_;
};

}  // namespace sml::report
