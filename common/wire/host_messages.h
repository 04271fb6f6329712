// Requests of the launcher about a host and the resource usage of its workers, and the replies (part of messages.h).
#pragma once
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "common/core/strong.h"
#include "common/core/usage.h"
#include "common/wire/message_rules.h"

namespace sml::wire {

// Requests the resource usage of the workers. The agent replies with WorkersUse at once; it does not reply at all if
// the plan disables usage reports.
struct AskUse {
  std::uint32_t id = 0;  // the same in the reply
  void fields(auto& a) { a(id); }
  static constexpr Rules kRules{.receiver = Receiver::Services, .peer_check = PeerCheck::Unchecked};
};

// Requests the free space of the file system of a worker's working directory. The agent replies with DiskSpace as soon
// as that file system answers; it does not reply at all while an earlier request is unanswered, or if the plan disables
// usage reports.
struct AskDiskSpace {
  std::uint32_t id = 0;  // the same in the reply
  void fields(auto& a) { a(id); }
  static constexpr Rules kRules{.receiver = Receiver::Services, .peer_check = PeerCheck::Unchecked};
};

// Requests the free space of /dev/shm, as AskDiskSpace does that of the working directory; the reply is SharedMemory.
struct AskSharedMemory {
  std::uint32_t id = 0;  // the same in the reply
  void fields(auto& a) { a(id); }
  static constexpr Rules kRules{.receiver = Receiver::Services, .peer_check = PeerCheck::Unchecked};
};

// Asks whether workers can start on the host, while none run. A later request replaces an unanswered one. The agent
// replies with Health, at most after both limits.
struct AskHealth {
  std::uint32_t id = 0;        // the same in the reply
  std::string command;         // for sh; exits with 0 on a healthy host; empty: none
  std::uint32_t limit_ms = 0;  // time limit of `command`
  // time limit until the accelerators use no more memory than before the first attempt, or little; 0: not checked
  std::uint32_t accelerators_ms = 0;
  void fields(auto& a) { a(id, command, limit_ms, accelerators_ms); }
};

// The resource usage of the host: sent when it has changed, and from time to time.
struct HostUsed {
  std::uint64_t at_ns = 0;
  HostUse use;
  void fields(auto& a) { a(at_ns, use); }
  static constexpr Rules kRules{.most = {"looks at its use", 32'000'000}};  // one per second for a year
  void amounts(const auto& at_most) const { at_most(use.accelerators.size(), Most{"accelerators", kMostAccelerators}); }
};

struct RankUse {
  Rank rank;
  ProcessUse use;
  bool operator==(const RankUse&) const = default;
  void fields(auto& a) { a(rank, use); }
};
// The resource usage of the running workers.
struct WorkersUse {
  std::uint32_t id = 0;
  std::vector<RankUse> workers;
  void fields(auto& a) { a(id, workers); }
  static constexpr Rules kRules{.phase = Phase::Connection};
  using Answers = AskUse;
};

// The file system of the working directory of one of the host's running workers.
struct DiskSpace {
  std::uint32_t id = 0;
  std::uint64_t free_bytes = 0;   // available to the worker's user
  std::uint64_t total_bytes = 0;  // 0: unknown, or no worker runs
  void fields(auto& a) { a(id, free_bytes, total_bytes); }
  static constexpr Rules kRules{.phase = Phase::Connection};
  using Answers = AskDiskSpace;
};

// The file system at /dev/shm, as one of the host's running workers sees it.
struct SharedMemory {
  std::uint32_t id = 0;
  std::uint64_t free_bytes = 0;   // available to the worker's user
  std::uint64_t total_bytes = 0;  // 0: unknown, there is none, or no worker runs
  void fields(auto& a) { a(id, free_bytes, total_bytes); }
  static constexpr Rules kRules{.phase = Phase::Connection};
  using Answers = AskSharedMemory;
};

// The replies for `sml-run status` that are about a host as a whole. It asks each host for one of each kind, and shows
// them by the rows of launcher/report/live/live_use.cc.
using StatusReplies = std::tuple<DiskSpace, SharedMemory>;

struct Health {
  std::uint32_t id = 0;
  std::vector<std::string> problems;  // why no worker should start, as parts of sentences; empty: the host is healthy
  void fields(auto& a) { a(id, problems); }
  static constexpr Rules kRules{.phase = Phase::Connection};
  void amounts(const auto& at_most) const { at_most(problems.size(), Most{"faults", 100}); }
  using Answers = AskHealth;
};

}  // namespace sml::wire
