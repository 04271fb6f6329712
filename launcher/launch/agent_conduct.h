// What the agent of one host may say, beyond the order that the session machine watches: about which ranks, how often,
// how much. Pure. Our memory hangs on it, and what the other hosts are told: a host that has turned is held to what a
// true agent would say.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/wire/messages.h"
#include "launcher/launch/attempt_conduct.h"

namespace sml::launch {

class AgentConduct {
 public:
  // What it is told first; of a further Prepare it is told by asked().
  AgentConduct(const wire::Hello& hello, const wire::Prepare& prepare);

  // We send it this: it may answer.
  void asked(const wire::ToAgent& message);
  // Error (Protocol): the rule that this breaks, as a clause with the host left out.
  Result<void> check(const wire::ToLauncher& message);

 private:
  void note(const wire::Prepare& m) { next_.emplace(m); }
  void note(const wire::Credit& m);
  void note(const wire::Ping& m);
  void note(const wire::Probe& m);
  void note(const wire::Inspect& m);
  void note(const wire::AskJoined& m);
  void note(const wire::Vouch& m);
  void note(const wire::Ruled& m);
  void note(const wire::EndLeft& m);
  void note(const wire::AskHealth&) { ++health_; }
  void note(const wire::HorovodCall& m) { called_.insert(m.rank); }
  // What else asks for something is about the attempt.
  template <class Message>
  void note(const Message& m) {
    if constexpr (requires { now_.note(m); }) now_.note(m);
  }

  Result<void> judge(const wire::HelloAck& m);
  Result<void> judge(const wire::Prepared& m);
  Result<void> judge(const wire::Probed& m);
  Result<void> judge(const wire::Output& m);
  Result<void> judge(const wire::AgentLog& m);
  Result<void> judge(const wire::Pong& m);
  Result<void> judge(const wire::Bye& m);
  Result<void> judge(const wire::Joined& m);
  Result<void> judge(const wire::Inspected& m);
  Result<void> judge(const wire::AskVouch& m);
  Result<void> judge(const wire::Vouched& m);
  Result<void> judge(const wire::LeftEnded& m);
  Result<void> judge(const wire::Health& m);
  Result<void> judge(const wire::HorovodNews& m);
  Result<void> judge(const wire::HorovodAnswer& m);
  Result<void> judge(const wire::Received&) { return {}; }  // is for the link
  // All else is about the attempt.
  template <class Message>
  Result<void> judge(const Message& m) {
    return now_.judge(m);
  }

  AttemptConduct now_;
  std::optional<AttemptConduct> next_;  // from its Prepared on
  std::uint64_t credit_ = 0;            // output bytes that it may send
  bool greeted_ = false;
  std::deque<std::uint64_t> pings_;  // not answered, the oldest first
  std::size_t probes_ = 0;           // likewise
  std::size_t inspections_ = 0;
  std::size_t joins_ = 0;
  std::size_t clean_ups_ = 0;
  std::size_t health_ = 0;
  std::vector<std::string> probed_;            // all that it was to try
  std::multiset<std::uint32_t> to_vouch_for_;  // callers about whom it was asked
  std::size_t callers_ = 0;                    // about whom it has asked, and has no answer
  std::size_t horovod_news_ = 0;
  std::multiset<Rank> called_;  // by HorovodCall, and not answered
  std::size_t words_ = 0;       // of its own: AgentLog
};

}  // namespace sml::launch
