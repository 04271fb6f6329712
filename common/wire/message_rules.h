// The rules that the struct of a message declares beside its fields(): `static constexpr Rules kRules{...}`, and, in
// the one reply to a request, `using Answers = Request`. A message of an agent may have limits on its parts, too:
// `void amounts(const auto& at_most) const`, which calls at_most(count, Most) for each. The agent, the launcher and the
// hosts that call derive from them how they treat the message, so that a new message needs no line in their sources. A
// message without kRules has the first value of each rule.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sml::wire {

// The part of the agent that handles a message. Services: the attempt and its services, while there are workers.
enum class Receiver : std::uint8_t { Agent, Services };
// Whether a host that calls the coordinator compares a message with its own plan before its agent gets it. Unchecked is
// for messages that start nothing on the host, and whose bytes the host sends nowhere; Refused for those that a
// coordinator never sends.
enum class PeerCheck : std::uint8_t { Checked, Unchecked, Refused };
// When an agent may send a message. Attempt: between Prepared and Cleared. Connection: at any time after HelloAck.
enum class Phase : std::uint8_t { Attempt, Connection };
// The size of the byte strings in a message of an agent. Text: at most kMaxText each. OwnLimits: the message's own
// limits, by amounts() or in a protocol validator.
enum class TextSize : std::uint8_t { Text, OwnLimits };
// The attempt that a message of an agent may name in its field `attempt`.
enum class OfAttempt : std::uint8_t { Current, Any };
// The ranks that a message of an agent may name. Once: ranks of its host, each once. OfHost: ranks of its host.
// Started: the same, and only after Started. OwnRule: the message's own rule, which AttemptProtocolValidator checks.
enum class Ranks : std::uint8_t { Once, OfHost, Started, OwnRule };

// A condition on the Prepare of the attempt.
enum class If : std::uint8_t { Always, ReportsBindings, LooksForMpi };
// The most items that a host may have: `fixed`, and so many for each of its ranks and programs; none unless `only_if`
// holds.
struct Most {
  std::string_view items;  // in plural, for the error: "sent 3 bindings, more than 2"; empty: no limit
  std::size_t fixed = 0;
  std::size_t per_rank = 0;
  std::size_t per_program = 0;
  If only_if = If::Always;
};

struct Rules {
  Receiver receiver = Receiver::Agent;
  PeerCheck peer_check = PeerCheck::Checked;
  Phase phase = Phase::Attempt;
  TextSize text_size = TextSize::Text;
  OfAttempt attempt = OfAttempt::Current;
  Ranks ranks = Ranks::Once;
  // "an error file": an agent sends the message at most once for each `rank`, and before its ExitedWorker; empty: no
  // such rule
  std::string_view once = {};
  Most most = {};         // messages in an attempt; those with the same `items` are counted together
  Most most_in_all = {};  // messages on a connection
};

template <class Message>
constexpr Rules rules_of() {
  if constexpr (requires { Message::kRules; }) {
    return Message::kRules;
  } else {
    return Rules{};
  }
}

// True for a message that is the one reply to a request.
template <class Message>
concept Reply = requires {
  typename Message::Answers;
};

// The name of the message's struct. The compiler's "sml::wire::Prepare" in __PRETTY_FUNCTION__ of GCC and Clang.
template <class Message>
constexpr std::string_view message_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("Message = ") + 10);
  text = text.substr(0, text.find_first_of("];"));
  return text.substr(text.rfind(':') + 1);
}

}  // namespace sml::wire
