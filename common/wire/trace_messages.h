// What launcher and agent say about where the workers are, among the messages (messages.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/core/process_trace.h"
#include "common/core/strong.h"

namespace sml::wire {

// Yes: workers are told where torch is to serve what asks for their stacks, and to record what they do with each other.
enum class TorchTraces : std::uint8_t { No, Yes };

// "Where are your workers?" Answered with a Trace for each that runs, in any order, and then Traced, all within
// limit_ms.
struct AskTraces {
  std::uint32_t id = 0;  // the same in the answers
  std::uint32_t limit_ms = 0;
  TraceTools tools = TraceTools::NonStopping;
  void fields(auto& a) { a(id, limit_ms, tools); }
};

struct Trace {
  std::uint32_t id = 0;
  Rank rank;
  ProcessTrace process;
  void fields(auto& a) { a(id, rank, process); }
};

struct Traced {
  std::uint32_t id = 0;
  void fields(auto& a) { a(id); }
};

// "What has torch recorded of them?" Answered with Recorded, any number of times for each rank, and then RecordedAll,
// all within limit_ms: at once where nothing records.
struct AskRecorded {
  std::uint32_t id = 0;  // the same in the answers
  std::uint32_t limit_ms = 0;
  void fields(auto& a) { a(id, limit_ms); }
};

// The next bytes of what a rank's flight recorder has, as torch writes it: a pickle where NCCL has it, else JSON.
struct Recorded {
  std::uint32_t id = 0;
  Rank rank;
  std::string bytes;
  void fields(auto& a) { a(id, rank, bytes); }
};
inline constexpr std::size_t kMaxRecordedPiece = std::size_t{256} << 10;
inline constexpr std::size_t kMaxRecorded = std::size_t{4} << 20;         // of one rank
inline constexpr std::size_t kMaxRecordedOfHost = std::size_t{32} << 20;  // of all its ranks, for one question

struct RecordedAll {
  std::uint32_t id = 0;
  void fields(auto& a) { a(id); }
};

}  // namespace sml::wire
