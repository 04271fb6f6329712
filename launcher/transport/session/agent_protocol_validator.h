// Validates the content of an agent's messages: which ranks they are about, how many there are, and how large. The
// session state machine checks their order. Pure. This bounds the launcher's memory and protects the other hosts: a
// compromised host is limited to what a genuine agent would send.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "common/core/error.h"
#include "common/wire/messages.h"
#include "launcher/transport/session/attempt_protocol_validator.h"

namespace sml::transport {

class AgentProtocolValidator {
 public:
  // `hello` and `prepare` are the first messages to the agent; later ones are passed to asked().
  AgentProtocolValidator(const wire::Hello& hello, const wire::Prepare& prepare);

  // Call before the launcher sends this message, which the agent may answer.
  void asked(const wire::ToAgent& message);
  // Error (Protocol): the broken rule, as a part of a sentence without the host's name.
  Result<void> check(const wire::ToLauncher& message);

 private:
  void note(const wire::Prepare& m) { next_ = std::make_unique<AttemptProtocolValidator>(m); }
  void note(const wire::Credit& m);
  void note(const wire::Ping& m);
  void note(const wire::Probe& m);
  void note(const wire::CheckPeerOwnership& m);
  void note(const wire::PeerVerdicts& m);
  void note(const wire::HorovodCall& m) { called_.insert(m.rank); }
  // All other requests belong to the attempt, or are only counted in unanswered_.
  template <class Message>
  void note(const Message& m) {
    if constexpr (requires { now_.note(m); }) now_.note(m);
  }

  // Counts a reply to one of the requests that are unanswered.
  template <class Message>
  Result<void> answered();

  // Checks of the connection that the rules beside the message's fields do not express.
  Result<void> validate(const wire::Probed& m);
  Result<void> validate(const wire::Output& m);
  Result<void> validate(const wire::Pong& m);
  Result<void> validate(const wire::AskPeerOwnership& m);
  Result<void> validate(const wire::PeerVerdictsOfHost& m);
  Result<void> validate(const wire::HorovodNews& m);
  Result<void> validate(const wire::HorovodAnswer& m);
  template <class Message>
  Result<void> validate(const Message&) {
    return {};
  }

  AttemptProtocolValidator now_;
  std::unique_ptr<AttemptProtocolValidator> next_;  // replaces now_ with the Prepared that answers it
  std::uint64_t credit_ = 0;                        // output bytes that the agent may send
  std::vector<std::uint64_t> pings_;                // unanswered, the oldest first
  std::array<std::uint32_t, std::variant_size_v<wire::ToAgent>> unanswered_{};  // requests, by their index in ToAgent
  std::vector<std::string> probed_;              // addresses that it was asked to try, until it has answered
  std::multiset<std::uint32_t> peers_to_check_;  // ids of callers about which the agent was asked
  std::size_t callers_ = 0;     // connections to stores about whose owner the agent has asked, unanswered
  std::multiset<Rank> called_;  // by HorovodCall, and not answered
  ItemCounts sent_in_all_;      // messages of all attempts
};

}  // namespace sml::transport
