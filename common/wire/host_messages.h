// Questions of the launcher about a host and what its workers use, and the answers, among the messages (messages.h).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/core/strong.h"
#include "common/core/usage.h"

namespace sml::wire {

// "What do your workers use?" Answered at once with a WorkersUse; not at all where the plan wants no look at use.
struct AskUse {
  std::uint32_t id = 0;  // the same in the answer
  void fields(auto& a) { a(id); }
};

// "Can workers start on your host?" While none run; a later one takes the place of one that is not answered. Answered
// with Health, after the two times at most.
struct AskHealth {
  std::uint32_t id = 0;               // the same in the answer
  std::string command;                // for sh, exits with 0 on a host that is well; empty: there is none
  std::uint32_t limit_ms = 0;         // for it
  std::uint32_t accelerators_ms = 0;  // for these to hold no more than before the first attempt, or little
  void fields(auto& a) { a(id, command, limit_ms, accelerators_ms); }
};

// How much of the host is in use: when that has changed, and now and then.
struct HostUsed {
  std::uint64_t at_ns = 0;
  HostUse use;
  void fields(auto& a) { a(at_ns, use); }
};

struct RankUse {
  Rank rank;
  ProcessUse use;
  bool operator==(const RankUse&) const = default;
  void fields(auto& a) { a(rank, use); }
};
// The use of the workers that run.
struct WorkersUse {
  std::uint32_t id = 0;
  std::vector<RankUse> workers;
  void fields(auto& a) { a(id, workers); }
};

struct Health {
  std::uint32_t id = 0;
  std::vector<std::string> faults;  // clauses; none: it is well
  void fields(auto& a) { a(id, faults); }
};

}  // namespace sml::wire
