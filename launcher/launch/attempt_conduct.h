// What the agent of one host may say of one attempt: about which ranks, in which order, how often, how much. Pure; part
// of AgentConduct, which holds what lasts as long as the connection.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/wire/messages.h"
#include "launcher/launch/answers_conduct.h"

namespace sml::launch {

class AttemptConduct {
 public:
  explicit AttemptConduct(const wire::Prepare& prepare);

  std::size_t apps() const { return apps_; }
  bool serves_stores() const;

  // We send it this.
  void note(const wire::StdinData& m);
  void note(const wire::Fenced& m);
  void note(const wire::AddWorkers& m);
  void note(const wire::StartAdded& m);
  void note(const wire::SpawnAnswer& m);
  template <class Message>
  requires requires(AnswersConduct answers, const Message& m) { answers.note(m); }
  void note(const Message& m) { answers_.note(m); }

  // Error (Protocol): the rule that this breaks, as a clause with the host left out.
  Result<void> judge(const wire::Prepared& m);
  Result<void> judge(const wire::Started& m);
  Result<void> judge(const wire::Output& m);  // but for how much of it
  Result<void> judge(const wire::ExitedWorker& m);
  Result<void> judge(const wire::Drained& m);
  Result<void> judge(const wire::StdinCredit& m);
  Result<void> judge(const wire::Cleared& m);
  Result<void> judge(const wire::ErrorFile& m);
  Result<void> judge(const wire::OutOfMemory& m);
  Result<void> judge(const wire::Joined& m);
  Result<void> judge(const wire::LogFailed& m);
  Result<void> judge(const wire::FifoFailed& m);
  Result<void> judge(const wire::MpiUse& m);
  Result<void> judge(const wire::FenceData& m);
  Result<void> judge(const wire::Relay& m);
  Result<void> judge(const wire::RankFault& m);
  Result<void> judge(const wire::SpawnWish& m);
  Result<void> judge(const wire::Added& m);
  Result<void> judge(const wire::HostUsed& m);
  template <class Message>
  requires requires(AnswersConduct answers, const Message& m) { answers.judge(m, AnswersConduct::Belongs()); }
  Result<void> judge(const Message& m) {
    return answers_.judge(m, [this](Rank rank) { return belongs(rank); });
  }

 private:
  enum class RankState : std::uint8_t { Waiting, Started, Exited, Drained };
  struct RankEntry {
    Rank rank;
    RankState state = RankState::Waiting;
    bool error_file = false;      // it has come
    std::uint64_t input_out = 0;  // bytes that we have sent it and that it has not taken
  };

  Result<RankEntry*> of_rank(Rank rank);      // one of this host
  Result<void> belongs(Rank rank);            // it is one
  Result<RankEntry*> started_one(Rank rank);  // ... whose host has said what runs

  std::uint32_t number_;
  std::size_t apps_;
  std::vector<wire::ServiceWish> services_;
  bool chooses_interfaces_;
  bool reports_bindings_;
  bool looks_for_mpi_;
  bool looks_;  // how much of the host is in use
  AnswersConduct answers_;
  std::uint32_t members_;  // of the worlds of its services

  std::vector<RankEntry> ranks_;  // sorted
  bool started_ = false;
  std::optional<wire::AddWorkers> added_;  // the last
  enum class AddedState : std::uint8_t { None, Asked, Waits } added_state_ = AddedState::None;
  std::map<std::pair<Rank, std::string>, std::size_t> spawns_;          // that have no answer: bytes
  std::size_t spawn_bytes_ = 0;                                         // of all of these
  std::size_t failures_ = 0;                                            // of logs, of pipes
  std::size_t kills_ = 0;                                               // for lack of memory, told
  std::size_t mpi_uses_ = 0;                                            // told while they run
  std::set<Rank> faults_;                                               // told
  std::map<std::pair<wire::WireUp, std::string>, std::size_t> fences_;  // that are not over: bytes of this host
  std::size_t fence_bytes_ = 0;                                         // of all of these
  std::uint64_t relays_ = 0;
  std::uint64_t relayed_ = 0;  // bytes
  std::uint64_t uses_ = 0;     // HostUsed
};

}  // namespace sml::launch
