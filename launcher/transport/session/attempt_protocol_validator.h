// Validates the messages of one host's agent about one attempt: their ranks, order, number and size. Pure; part of
// AgentProtocolValidator, which holds the state of the whole connection.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
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

  bool serves_stores() const;  // whether this agent runs a store of torch or Horovod

  // Call when the launcher sends one of these messages.
  void note(const wire::StdinData& m);
  void note(const wire::Fenced& m);
  void note(const wire::AddWorkers& m);
  void note(const wire::StartAdded& m);
  void note(const wire::SpawnAnswer& m);
  void note(const wire::AskTraces& m) { traces_asked_.emplace(m.id, std::set<Rank>()); }
  void note(const wire::AskRecorded& m) { records_asked_.emplace(m.id, Records()); }

  // Call for each message that arrives. `in_all`: counts of the connection. Error (Protocol): the broken rule, as a
  // part of a sentence without the host's name.
  template <class Message>
  Result<void> check(const Message& m, ItemCounts& in_all) {
    Result<void> valid = names_fit(m);
    if constexpr (requires { validate(m); }) {
      if (valid) valid = validate(m);
    }
    if (valid) valid = amounts_fit(m, in_all);
    return valid;
  }

 private:
  enum class RankState : std::uint8_t { Waiting, Started, Exited, Drained };
  struct RankEntry {
    Rank rank;
    RankState state = RankState::Waiting;
    std::uint64_t input_out = 0;  // bytes of input that were sent to it, and that it has not taken
  };
  struct Records {
    std::map<Rank, std::size_t> bytes;  // received so far, by rank
    std::size_t of_all = 0;             // bytes of all ranks
  };

  // Whether the message names this attempt, and ranks that it may name now.
  template <class Message>
  Result<void> names_fit(const Message& m) {
    constexpr wire::Rules rules = wire::rules_of<Message>();
    if constexpr (requires { m.attempt; } && rules.attempt == wire::OfAttempt::Current) {
      if (m.attempt != number_) return broken("named attempt " + number(m.attempt) + ", which it is not at");
    }
    Result<void> fit;
    std::vector<Rank> once;
    FieldWalk([&]<class T>(const T& value) {
      if constexpr (std::is_same_v<T, Rank>) {
        if (fit) fit = may_name(value, rules.ranks);
        if (rules.ranks == wire::Ranks::Once) once.push_back(value);
      }
    })(m);
    if (fit) fit = none_twice(std::move(once));
    if constexpr (!rules.once.empty()) {
      if (fit) fit = first_of_rank(m.rank, rules.once);
    }
    return fit;
  }

  // Checks that the rules beside the message's fields do not express, such as the order of messages about a rank.
  Result<void> validate(const wire::Prepared& m);
  Result<void> validate(const wire::Started& m);
  Result<void> validate(const wire::Output& m);
  Result<void> validate(const wire::ExitedWorker& m);
  Result<void> validate(const wire::Drained& m);
  Result<void> validate(const wire::StdinCredit& m);
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

  // Whether the message is not one too many, and no part of it is too large.
  template <class Message>
  Result<void> amounts_fit(const Message& m, ItemCounts& in_all) {
    constexpr wire::Rules rules = wire::rules_of<Message>();
    Result<void> fit;
    const auto part = [&](std::size_t count, const wire::Most& most) {
      if (fit) fit = at_most(count, limit(most), most.items);
    };
    if constexpr (!rules.most.items.empty()) part(++sent_[rules.most.items], rules.most);
    if constexpr (!rules.most_in_all.items.empty()) part(++in_all[rules.most_in_all.items], rules.most_in_all);
    if constexpr (requires { m.amounts(part); }) m.amounts(part);
    return fit;
  }

  RankEntry* find(Rank rank);  // null unless the rank is one of this host
  Result<void> may_name(Rank rank, wire::Ranks rule);
  static Result<void> none_twice(std::vector<Rank> ranks);
  // Fails if this was called before for the same rank and item, or the rank has ended.
  Result<void> first_of_rank(Rank rank, std::string_view item);
  std::size_t limit(const wire::Most& most) const;

  std::uint32_t number_;                        // of the attempt
  std::size_t apps_;                            // programs that the host runs
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
  ItemCounts sent_;                                                     // messages
  std::set<std::pair<Rank, std::string_view>> sent_once_;               // ranks and items of first_of_rank()
  std::map<std::pair<wire::WireUp, std::string>, std::size_t> fences_;  // pending fences: bytes from this host
  std::size_t fence_bytes_ = 0;                                         // of all these fences
  std::map<std::uint32_t, std::set<Rank>> traces_asked_;                // pending queries by id: ranks with a Trace
  std::map<std::uint32_t, Records> records_asked_;                      // pending queries by id
  std::uint64_t relayed_ = 0;                                           // bytes of Relay messages
};

}  // namespace sml::transport
