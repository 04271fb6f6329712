// Messages from a rank to its monitor, and the replies. Source: nvidia_resiliency_ext/fault_tolerance/data.py,
// rank_monitor_client.py and rank_monitor_server.py of 0.4.1, and of the sources after it. Pure.
//
// A message is its length, 4 bytes in big-endian order, and a pickle of one object. Each is answered by an OkMsg or an
// ErrorMsg. Clients later than 0.4.1 may omit these replies if the configuration permits; the configuration that is
// sent asks for them.
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

namespace sml::monitor {

inline constexpr std::size_t kLengthSize = 4;
inline constexpr std::size_t kMaxSections = 1000;
inline constexpr std::size_t kMaxSectionName = 200;

struct Greeting {};  // AuthkeyMsg: its key is for objects that occur in no message here
struct Begin {};     // InitMsg
struct Heartbeat {};
struct SectionChange {
  enum class Kind : std::uint8_t { Open, Close, CloseAll } kind = Kind::Open;
  std::string name{};  // empty for CloseAll
};
struct HeartbeatLimits {
  Duration first{};
  Duration next{};
};
struct SectionLimits {
  std::vector<plan::SectionLimit> named{};
  Duration outside{};
};
// UpdateConfigMsg: limits that the script has computed, or has kept from an earlier run. Zero: no limit.
struct NewLimits {
  std::optional<HeartbeatLimits> heartbeats{};
  std::optional<SectionLimits> sections{};
};
using RankMessage = std::variant<Greeting, Begin, Heartbeat, SectionChange, NewLimits>;

// `pickle`: the message without its length. Error (Protocol): a clause that describes the fault.
Result<RankMessage> read_rank_message(std::string_view pickle);

// Replies, including their length.
std::string ok_answer();
// The reply to Begin, with the configuration that the client must use.
std::string ok_answer(const plan::RankMonitor& limits);
std::string error_answer(std::string_view cause);

}  // namespace sml::monitor
