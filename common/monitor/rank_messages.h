// What a rank says to its monitor, and what it is answered. Source: nvidia_resiliency_ext/fault_tolerance/data.py,
// rank_monitor_client.py and rank_monitor_server.py of 0.4.1, and of the sources after it. Pure.
//
// A message is its length, 4 bytes, the highest first, and a pickle of one object. Each is answered by an OkMsg or an
// ErrorMsg: clients later than 0.4.1, which ask the configuration whether they are to be, are told so.
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

struct Greeting {};  // AuthkeyMsg: its key is for objects that no message of ours has
struct Begin {};     // InitMsg
struct Heartbeat {};
struct SectionChange {
  enum class Kind : std::uint8_t { Open, Close, CloseAll } kind = Kind::Open;
  std::string name{};  // empty: CloseAll
};
struct HeartbeatLimits {
  Duration first{};
  Duration next{};
};
struct SectionLimits {
  std::vector<plan::SectionLimit> named{};
  Duration outside{};
};
// UpdateConfigMsg: limits that the script has found by itself, or has kept from an earlier run. Zero: none.
struct NewLimits {
  std::optional<HeartbeatLimits> heartbeats{};
  std::optional<SectionLimits> sections{};
};
using RankMessage = std::variant<Greeting, Begin, Heartbeat, SectionChange, NewLimits>;

// `pickle`: without its length. Error (Protocol): a clause that says what is wrong with it.
Result<RankMessage> read_rank_message(std::string_view pickle);

// Answers, with their length.
std::string ok_answer();
// To Begin: the configuration that the client goes by.
std::string ok_answer(const plan::RankMonitor& limits);
std::string error_answer(std::string_view cause);

}  // namespace sml::monitor
