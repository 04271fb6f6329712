// Current resource usage of each rank and its host. Computes the CPU share of a rank from two samples of its CPU time.
// Pure.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/strong.h"
#include "common/core/usage.h"
#include "common/wire/host_messages.h"

namespace sml::report {

struct LiveUse {
  std::optional<double> cpu_percent{};  // of one core, between two samples; nullopt: there is only one sample
  std::uint64_t cpu_ms = 0;             // so far, see ProcessUse
  std::uint64_t memory = 0;             // bytes, resident
  std::uint32_t processes = 0;
};
using RankUses = std::map<Rank, LiveUse>;  // of ranks that run and for which an agent has replied

// The replies of agents at one moment.
struct LiveUses {
  RankUses ranks{};
  std::map<std::string, wire::StatusReplies> hosts{};  // by name; a reply that has not come has its default values
};

// The part of a host's status that comes from one reply.
struct StatusPart {
  struct Number {
    const char* key;
    std::uint64_t value;
  };
  bool known = false;           // false: the agent does not know the numbers, or has not replied
  std::string text;             // for the host's line of the table, if known
  std::vector<Number> numbers;  // for the JSON form; null unless known
};
// One part for each of wire::StatusReplies, in their order.
std::vector<StatusPart> status_parts(const LiveUses& uses, const std::string& host);

class UseRates {
 public:
  static constexpr Duration kShortest = std::chrono::milliseconds(200);  // between two samples, for a CPU rate
  static constexpr Duration kLongest = std::chrono::seconds(10);

  // True if the time since the last sample is suitable for a rate.
  bool has_base(TimePoint now) const { return now - looked_ >= kShortest && now - looked_ <= kLongest; }
  // Adds a sample, which becomes the base of the next; returns the usage of ranks that have processes.
  RankUses add(const std::map<Rank, ProcessUse>& look, TimePoint now);

 private:
  std::map<Rank, ProcessUse> before_;
  TimePoint looked_;
};

}  // namespace sml::report
