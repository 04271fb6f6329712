// One rank as a client of PMI: its protocol state, the messages that it may send next, and its calls that wait for a
// reply. Pure and bounded.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/wire/pmi_wire.h"
#include "launcher/agent/pmi/pmi_spawn.h"
#include "launcher/agent/pmi/pmi_table.h"

namespace sml::agent {

class PmiClient {
 public:
  explicit PmiClient(std::uint32_t app_number) : app_number_(app_number) {}

  // The client's messages, one by one. Error (Protocol): a clause that follows "it".
  void feed(std::string_view bytes) { reader_.feed(bytes); }
  Result<std::optional<wire::PmiMessage>> next() { return reader_.next(dialect_); }
  // Whether the message is allowed now. Error (Protocol): as above.
  Result<void> may_come(const PmiRow& row, const wire::PmiMessage& message) const;

  // The client has chosen its dialect; in PMI-1 it has thereby joined.
  void greet(wire::PmiDialect dialect);
  void join();
  // It may come again with another greeting.
  void leave();
  // It is not heard any more. What waits stays so.
  void end() { state_ = State::Over; }
  // Also drops the waiting calls.
  void give_up();

  std::uint32_t app_number() const { return app_number_; }
  wire::PmiDialect dialect() const { return dialect_; }
  bool over() const { return state_ == State::Over; }
  bool must_leave() const { return state_ == State::Greeted || state_ == State::Joined; }
  bool has_joined() const { return state_ != State::Silent && state_ != State::Greeted; }
  bool ever_joined() const { return joined_; }

  PmiSpawnReader& spawns() { return spawns_; }

  // A call that waits for a reply, at most one for each thread.
  struct Call {
    std::string thread;  // pmi_thread()
    const PmiRow* row = nullptr;
    std::string key;  // for a GetNode
  };
  void wait(const PmiRow& row, const wire::PmiMessage& message, std::string_view key = {});
  bool waits(PmiVerb verb) const;
  // Removes and returns the waiting calls of this verb and key.
  std::vector<Call> take(PmiVerb verb, std::string_view key = {});
  // The waiting call of a thread; null if there is none. Valid until answered().
  const Call* call_of(const std::string& thread) const;
  void answered(const std::string& thread) { waiting_.erase(thread); }

 private:
  enum class State : std::uint8_t { Silent, Greeted, Joined, Left, Over };

  std::uint32_t app_number_;
  State state_ = State::Silent;
  bool joined_ = false;  // true once it has joined, even if it has left
  wire::PmiDialect dialect_ = wire::PmiDialect::One;
  wire::PmiReader reader_;
  PmiSpawnReader spawns_;
  std::map<std::string, Call> waiting_;  // by thread
};

}  // namespace sml::agent
