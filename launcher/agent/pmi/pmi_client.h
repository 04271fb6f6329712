// One rank as a client of PMI: its protocol state, the messages that it may send next, and its calls that wait for a
// reply. Pure; its memory is bounded whatever the rank sends.
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

  // Takes the client's bytes, in pieces of any size; next() returns its messages, one by one. nullopt: more bytes are
  // needed. Error (Protocol): a part of a sentence that follows "it".
  void feed(std::string_view bytes) { reader_.feed(bytes); }
  Result<std::optional<wire::PmiMessage>> next() { return reader_.next(dialect_); }
  // Whether the message is allowed now. Error (Protocol): as above.
  Result<void> may_come(const PmiRow& row, const wire::PmiMessage& message) const;

  // The client has chosen its dialect; in PMI-1 it has thereby joined.
  void greet(wire::PmiDialect dialect);
  // It has asked for its place in the world.
  void join();
  // It has finalized. It may greet again.
  void leave();
  // No more messages are taken from it. Its waiting calls stay.
  void end() { state_ = State::Over; }
  // The same after a violation of the protocol; also drops its waiting calls and unread bytes.
  void give_up();

  std::uint32_t app_number() const { return app_number_; }
  wire::PmiDialect dialect() const { return dialect_; }
  bool over() const { return state_ == State::Over; }
  // True if it has greeted and must still finalize.
  bool must_leave() const { return state_ == State::Greeted || state_ == State::Joined; }
  // Also true once it has left or is over, even if it never joined.
  bool has_joined() const { return state_ != State::Silent && state_ != State::Greeted; }
  bool ever_joined() const { return joined_; }

  // Collects the messages of a spawn request.
  PmiSpawnReader& spawns() { return spawns_; }

  // A call that waits for a reply, at most one for each thread.
  struct Call {
    std::string thread;  // pmi_thread()
    const PmiRow* row = nullptr;
    std::string key;  // of a GetNode: the key for which it waits
  };
  void wait(const PmiRow& row, const wire::PmiMessage& message, std::string_view key = {});
  bool waits(PmiVerb verb) const;  // in any thread
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
