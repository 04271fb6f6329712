// What the agent of one host may say, beyond the order that the session machine watches: about which ranks, how often,
// how much. Pure. Our memory hangs on it, and what the other hosts are told: a host that has turned is held to what a
// true agent would say.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/wire/messages.h"

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
  enum class RankState : std::uint8_t { Waiting, Started, Exited, Drained };
  struct RankEntry {
    Rank rank;
    RankState state = RankState::Waiting;
    bool error_file = false;      // it has come
    std::uint64_t input_out = 0;  // bytes that we have sent it and that it has not taken
  };

  // What one attempt allows.
  struct Attempt {
    Attempt() = default;
    explicit Attempt(const wire::Prepare& prepare);
    std::uint32_t number = 0;
    std::vector<RankEntry> ranks;  // sorted
    std::size_t apps = 0;
    std::vector<wire::ServiceWish> services;
    bool chooses_interfaces = false;
    bool reports_bindings = false;
    bool looks_for_mpi = false;
    bool looks = false;  // how much of the host is in use
    bool started = false;
    std::size_t failures = 0;                                              // of logs, of pipes
    std::size_t kills = 0;                                                 // for lack of memory, told
    std::size_t mpi_uses = 0;                                              // told while they run
    std::uint32_t members = 0;                                             // of the world of its services
    std::set<Rank> faults{};                                               // told
    std::map<std::pair<wire::WireUp, std::string>, std::size_t> fences{};  // that are not over: bytes of this host
    std::size_t fence_bytes = 0;                                           // of all of these
    std::uint64_t relays = 0;
    std::uint64_t relayed = 0;  // bytes
    std::size_t wishes(wire::ServiceKind kind) const;
    bool serves_stores() const;
  };

  void note(const wire::Prepare& m) { next_.emplace(m); }
  void note(const wire::Credit& m);
  void note(const wire::Ping& m);
  void note(const wire::Probe& m);
  void note(const wire::Inspect& m);
  void note(const wire::AskJoined& m);
  void note(const wire::StdinData& m);
  void note(const wire::Vouch& m);
  void note(const wire::Ruled& m);
  void note(const wire::EndLeft& m);
  void note(const wire::Fenced& m);
  template <class Message>
  void note(const Message&) {}

  Result<void> judge(const wire::HelloAck& m);
  Result<void> judge(const wire::Prepared& m);
  Result<void> judge(const wire::Probed& m);
  Result<void> judge(const wire::Started& m);
  Result<void> judge(const wire::Output& m);
  Result<void> judge(const wire::ExitedWorker& m);
  Result<void> judge(const wire::Drained& m);
  Result<void> judge(const wire::AgentLog& m);
  Result<void> judge(const wire::Pong& m);
  Result<void> judge(const wire::StdinCredit& m);
  Result<void> judge(const wire::Bye& m);
  Result<void> judge(const wire::ErrorFile& m);
  Result<void> judge(const wire::OutOfMemory& m);
  Result<void> judge(const wire::Joined& m);
  Result<void> judge(const wire::LogFailed& m);
  Result<void> judge(const wire::Inspected& m);
  Result<void> judge(const wire::PipeFailed& m);
  Result<void> judge(const wire::MpiUse& m);
  Result<void> judge(const wire::AskVouch& m);
  Result<void> judge(const wire::Vouched& m);
  Result<void> judge(const wire::LeftEnded& m);
  Result<void> judge(const wire::Cleared& m);
  Result<void> judge(const wire::FenceData& m);
  Result<void> judge(const wire::Relay& m);
  Result<void> judge(const wire::RankFault& m);
  Result<void> judge(const wire::HostUsed& m);
  Result<void> judge_attempt(std::uint32_t attempt) const;
  Result<void> judge_services(const std::vector<wire::Service>& services) const;
  Result<void> judge_mpi(const wire::MpiUse& m);

  Result<RankEntry*> of_rank(Rank rank);      // one of this host
  Result<RankEntry*> started_one(Rank rank);  // ... whose host has said what runs

  Attempt now_;
  std::optional<Attempt> next_;  // from its Prepared on
  std::uint64_t credit_ = 0;     // output bytes that it may send
  bool greeted_ = false;
  std::deque<std::uint64_t> pings_;  // not answered, the oldest first
  std::size_t probes_ = 0;           // likewise
  std::size_t inspections_ = 0;
  std::size_t joins_ = 0;
  std::size_t clean_ups_ = 0;
  std::vector<std::string> probed_;            // all that it was to try
  std::multiset<std::uint32_t> to_vouch_for_;  // callers about whom it was asked
  std::size_t callers_ = 0;                    // about whom it has asked, and has no answer
  std::uint64_t uses_ = 0;                     // HostUsed
  std::size_t words_ = 0;                      // of its own: AgentLog
};

}  // namespace sml::launch
