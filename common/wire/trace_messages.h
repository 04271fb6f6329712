// Messages between launcher and agent about the code that the workers execute (part of messages.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/core/process_trace.h"
#include "common/core/strong.h"
#include "common/wire/message_rules.h"

namespace sml::wire {

// Yes: variables of the workers make torch serve stack requests, and record the workers' communication with each other.
enum class TorchTraces : std::uint8_t { No, Yes };

// Requests the stacks of the workers. The agent replies with a Trace for each running worker, in any order, and then
// Traced, all within limit_ms.
struct AskTraces {
  std::uint32_t id = 0;  // the same in the replies
  std::uint32_t limit_ms = 0;
  TraceTools tools = TraceTools::NonStopping;
  void fields(auto& a) { a(id, limit_ms, tools); }
  static constexpr Rules kRules{.receiver = Receiver::Services, .peer_check = PeerCheck::Unchecked};
};

// The state and the stacks of one worker.
struct Trace {
  std::uint32_t id = 0;
  Rank rank;
  ProcessTrace process;
  void fields(auto& a) { a(id, rank, process); }
  static constexpr Rules kRules{.phase = Phase::Connection};
  void amounts(const auto& at_most) const {
    at_most(process.threads.size(), Most{"threads", kMostThreads});
    at_most(process.sockets.size(), Most{"sockets", kMostSockets});
  }
};

// The end of the replies to AskTraces.
struct Traced {
  std::uint32_t id = 0;
  void fields(auto& a) { a(id); }
  static constexpr Rules kRules{.phase = Phase::Connection};
};

// Requests torch's flight records. The agent replies with any number of Recorded for each rank, and then RecordedAll,
// all within limit_ms; at once if nothing records.
struct AskRecorded {
  std::uint32_t id = 0;  // the same in the replies
  std::uint32_t limit_ms = 0;
  void fields(auto& a) { a(id, limit_ms); }
  static constexpr Rules kRules{.receiver = Receiver::Services, .peer_check = PeerCheck::Unchecked};
};

// The next bytes of a rank's flight record, in torch's format: a pickle from torch's recorder for NCCL, or JSON
// from torch's worker server.
struct Recorded {
  std::uint32_t id = 0;
  Rank rank;
  std::string bytes;
  void fields(auto& a) { a(id, rank, bytes); }
  static constexpr Rules kRules{.phase = Phase::Connection, .text_size = TextSize::OwnLimits};
};
inline constexpr std::size_t kMaxRecordedPiece = std::size_t{256} << 10;
inline constexpr std::size_t kMaxRecorded = std::size_t{4} << 20;         // of one rank
inline constexpr std::size_t kMaxRecordedOfHost = std::size_t{32} << 20;  // of all ranks of a host, per request

struct RecordedAll {
  std::uint32_t id = 0;
  void fields(auto& a) { a(id); }
  static constexpr Rules kRules{.phase = Phase::Connection};
};

}  // namespace sml::wire
