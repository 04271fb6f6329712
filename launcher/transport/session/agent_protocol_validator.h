// Validates what the agent of one host sends, beyond the order that the session machine checks: about which ranks, how
// often, and how much. Pure. This bounds the launcher's memory and protects the other hosts: a compromised host is
// limited to what a genuine agent would send.
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

namespace sml::launch {

class AgentProtocolValidator {
 public:
  // `hello` and `prepare` are the first messages to the agent; asked() gets any further Prepare.
  AgentProtocolValidator(const wire::Hello& hello, const wire::Prepare& prepare);

  // Call when the launcher sends this message: the agent may answer it.
  void asked(const wire::ToAgent& message);
  // Error (Protocol): the broken rule, as a clause that leaves out the host.
  Result<void> check(const wire::ToLauncher& message);

 private:
  void note(const wire::Prepare& m) { next_ = std::make_unique<AttemptProtocolValidator>(m); }
  void note(const wire::Credit& m);
  void note(const wire::Ping& m);
  void note(const wire::Probe& m);
  void note(const wire::CheckPeerOwnership& m);
  void note(const wire::PeerVerdicts& m);
  void note(const wire::HorovodCall& m) { called_.insert(m.rank); }
  // All other requests belong to the attempt, or have no state but that they are unanswered.
  template <class Message>
  void note(const Message& m) {
    if constexpr (requires { now_.note(m); }) now_.note(m);
  }

  // Counts a reply to one of the requests that are unanswered.
  template <class Message>
  Result<void> answered();

  Result<void> judge(const wire::HelloAck& m);
  Result<void> judge(const wire::Prepared& m);
  Result<void> judge(const wire::Probed& m);
  Result<void> judge(const wire::Output& m);
  Result<void> judge(const wire::AgentLog& m);
  Result<void> judge(const wire::Pong& m);
  Result<void> judge(const wire::Inspected& m);
  Result<void> judge(const wire::AskPeerOwnership& m);
  Result<void> judge(const wire::PeerVerdictsOfHost& m);
  Result<void> judge(const wire::LeftEnded& m);
  Result<void> judge(const wire::Health& m);
  Result<void> judge(const wire::HorovodNews& m);
  Result<void> judge(const wire::HorovodAnswer& m);
  // All other messages belong to the attempt. Without a rule there, all their ranks are ranks of this host.
  template <class Message>
  Result<void> judge(const Message& m) {
    if constexpr (requires { now_.judge(m); }) {
      return now_.judge(m);
    } else {
      return now_.ranks_belong(m);
    }
  }

  AttemptProtocolValidator now_;
  std::unique_ptr<AttemptProtocolValidator> next_;  // takes effect with its Prepared
  std::uint64_t credit_ = 0;                        // output bytes that the agent may send
  bool greeted_ = false;
  std::vector<std::uint64_t> pings_;                                            // unanswered, the oldest first
  std::array<std::uint32_t, std::variant_size_v<wire::ToAgent>> unanswered_{};  // requests, by their index in ToAgent
  std::vector<std::string> probed_;            // addresses that it was asked to try, until it has answered
  std::multiset<std::uint32_t> to_vouch_for_;  // ids of callers about which the agent was asked
  std::size_t callers_ = 0;  // number of callers about which the agent has asked without an answer so far
  std::size_t horovod_news_ = 0;
  std::multiset<Rank> called_;  // by HorovodCall, and not answered
  std::size_t words_ = 0;       // AgentLog messages
};

}  // namespace sml::launch
