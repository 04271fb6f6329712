// The rules that the struct of a message declares beside its fields(): `static constexpr Rules kRules{...}`, and, in
// the one reply to a request, `using Answers = Request`. The agent, the launcher and the hosts that call derive from
// them how they treat the message, so that a new message needs no line in their sources. A message without kRules has
// the first value of each rule.
#pragma once
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
// limits, which AgentProtocolValidator checks.
enum class TextSize : std::uint8_t { Text, OwnLimits };

struct Rules {
  Receiver receiver = Receiver::Agent;
  PeerCheck peer_check = PeerCheck::Checked;
  Phase phase = Phase::Attempt;
  TextSize text_size = TextSize::Text;
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
