// Messages from a rank to its rank monitor, for which the agent stands in, and the replies. Source:
// nvidia_resiliency_ext/fault_tolerance/data.py, rank_monitor_client.py and rank_monitor_server.py of 0.4.1 and of its
// main branch in 2025. Pure.
//
// A message is its length, 4 bytes in big-endian order, and a pickle of one object. Each is answered by an OkMsg or an
// ErrorMsg. Clients later than 0.4.1 may omit these replies if the configuration permits; our reply to
// InitMsg always requests them. Reading a pickle runs no code of it (common/core/pickle.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/plan/rank_monitor.h"

namespace sml::agent {

inline constexpr std::size_t kLengthSize = 4;
inline constexpr std::size_t kMaxSections = 1000;
inline constexpr std::size_t kMaxSectionName = 200;

struct Greeting {};  // AuthkeyMsg; no supported message has an object that needs its key
struct Begin {};     // InitMsg
struct Heartbeat {};
struct SectionChange {
  enum class Kind : std::uint8_t { Open, Close, CloseAll } kind = Kind::Open;
  std::string name{};  // empty for CloseAll
};
struct HeartbeatLimits {
  Duration first{};  // until the first heartbeat
  Duration next{};   // between two
};
struct SectionLimits {
  std::vector<plan::SectionLimit> named{};
  Duration outside{};  // of all sections
};
// UpdateConfigMsg: limits that the training script has computed, or has kept from an earlier run. A limit of zero is no
// limit; nullopt leaves those limits as they are.
struct NewLimits {
  std::optional<HeartbeatLimits> heartbeats{};
  std::optional<SectionLimits> sections{};
};
using RankMessage = std::variant<Greeting, Begin, Heartbeat, SectionChange, NewLimits>;

// `pickle`: the message without its length. Error (Protocol): what is wrong, as a part of a sentence.
Result<RankMessage> read_rank_message(std::string_view pickle);

// Replies, including their length.
std::string ok_answer();
// The reply to Begin, with the configuration that the client must use.
std::string ok_answer(const plan::RankMonitor& limits);
std::string error_answer(std::string_view cause);

}  // namespace sml::agent
