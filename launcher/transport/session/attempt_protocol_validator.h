// Validates the messages of one host's agent about one attempt: their ranks, order, number and size. Pure; part of
// AgentProtocolValidator, which holds the state of the whole connection.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/wire/messages.h"
#include "launcher/transport/session/validation_result.h"

namespace sml::transport {

class AttemptProtocolValidator {
 public:
  explicit AttemptProtocolValidator(const wire::Prepare& prepare);

  std::size_t apps() const { return apps_; }  // programs that the host runs
  bool serves_stores() const;                 // whether this agent runs a store of torch or Horovod

  // Call when the launcher sends one of these messages.
  void note(const wire::StdinData& m);
  void note(const wire::Fenced& m);
  void note(const wire::AddWorkers& m);
  void note(const wire::StartAdded& m);
  void note(const wire::SpawnAnswer& m);
  void note(const wire::AskTraces& m) { traces_asked_.emplace(m.id, std::set<Rank>()); }
  void note(const wire::AskRecorded& m) { records_asked_.emplace(m.id, Records()); }

  // Call for each message that arrives. Error (Protocol): the broken rule, as a part of a sentence without the host's
  // name.
  Result<void> validate(const wire::Prepared& m);
  Result<void> validate(const wire::Started& m);
  Result<void> validate(const wire::Output& m);  // the amount of output is not checked here
  Result<void> validate(const wire::ExitedWorker& m);
  Result<void> validate(const wire::Drained& m);
  Result<void> validate(const wire::StdinCredit& m);
  Result<void> validate(const wire::Cleared& m);
  Result<void> validate(const wire::ErrorFile& m);
  Result<void> validate(const wire::OutOfMemory& m);
  Result<void> validate(const wire::Joined& m);
  Result<void> validate(const wire::LogFailed& m);
  Result<void> validate(const wire::FifoFailed& m);
  Result<void> validate(const wire::MpiUse& m);
  Result<void> validate(const wire::FenceData& m);
  Result<void> validate(const wire::Relay& m);
  Result<void> validate(const wire::RankFault& m);
  Result<void> validate(const wire::SpawnRequest& m);
  Result<void> validate(const wire::Added& m);
  Result<void> validate(const wire::HostUsed& m);
  Result<void> validate(const wire::Trace& m);
  Result<void> validate(const wire::Traced& m);
  Result<void> validate(const wire::Recorded& m);
  Result<void> validate(const wire::RecordedAll& m);

  // The same for a message that has no rule of its own: every rank in it is one of this host, and occurs once.
  template <class Message>
  Result<void> ranks_belong(const Message& m) {
    std::vector<Rank> ranks;
    FieldWalk([&ranks]<class T>(const T& value) {
      if constexpr (std::is_same_v<T, Rank>) ranks.push_back(value);
    })(m);
    return belong_once(std::move(ranks));
  }

 private:
  enum class RankState : std::uint8_t { Waiting, Started, Exited, Drained };
  struct RankEntry {
    Rank rank;
    RankState state = RankState::Waiting;
    bool error_file = false;      // it has arrived
    std::uint64_t input_out = 0;  // bytes of input that were sent to it, and that it has not taken
  };
  struct Records {
    std::map<Rank, std::size_t> bytes;  // received so far, by rank
    std::size_t of_all = 0;             // bytes of all ranks
  };

  Result<RankEntry*> of_rank(Rank rank);  // fails unless the rank is one of this host
  Result<void> belongs(Rank rank);        // the same, without the entry
  Result<void> belong_once(std::vector<Rank> ranks);
  Result<RankEntry*> started_one(Rank rank);  // like of_rank(), and fails unless the host has reported Started

  std::uint32_t number_;  // of the attempt
  std::size_t apps_;
  std::vector<wire::ServiceRequest> services_;  // that the agent is to provide
  bool chooses_interfaces_;                     // whether Prepared may have addresses
  bool reports_bindings_;
  bool looks_for_mpi_;
  bool looks_;             // whether it reports how much of the host is in use
  bool records_;           // whether torch records what the workers do
  std::uint32_t members_;  // ranks in the worlds of its services

  std::vector<RankEntry> ranks_;  // sorted
  bool started_ = false;
  std::unique_ptr<wire::AddWorkers> added_;  // the last one; null: none so far
  // Asked: AddWorkers was sent, and Added has not arrived. Waits: Added has arrived, and StartAdded was not sent.
  enum class AddedState : std::uint8_t { None, Asked, Waits } added_state_ = AddedState::None;
  std::map<std::pair<Rank, std::string>, std::size_t> spawns_;          // unanswered requests: their bytes
  std::size_t spawn_bytes_ = 0;                                         // of all these requests
  std::size_t failures_ = 0;                                            // LogFailed and FifoFailed messages
  std::size_t kills_ = 0;                                               // kills for lack of memory reported
  std::size_t mpi_uses_ = 0;                                            // reported while the workers run
  std::set<Rank> faults_;                                               // ranks with a RankFault
  std::map<std::pair<wire::WireUp, std::string>, std::size_t> fences_;  // pending fences: bytes from this host
  std::size_t fence_bytes_ = 0;                                         // of all these fences
  std::map<std::uint32_t, std::set<Rank>> traces_asked_;                // pending queries by id: ranks with a Trace
  std::map<std::uint32_t, Records> records_asked_;                      // pending queries by id
  std::uint64_t relays_ = 0;                                            // Relay messages
  std::uint64_t relayed_ = 0;                                           // their bytes
  std::uint64_t uses_ = 0;                                              // HostUsed messages
};

}  // namespace sml::transport
