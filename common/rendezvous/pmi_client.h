// One rank as a client of PMI: how far it has come, what it may say next, and which of its calls wait for an answer.
// Pure and bounded.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/rendezvous/pmi_spawn.h"
#include "common/rendezvous/pmi_table.h"
#include "common/rendezvous/pmi_wire.h"

namespace sml::rendezvous {

class PmiClient {
 public:
  explicit PmiClient(std::uint32_t app_number) : app_number_(app_number) {}

  // What it sends, message by message. Error (Protocol): a clause that follows "it".
  void feed(std::string_view bytes) { reader_.feed(bytes); }
  Result<std::optional<PmiMessage>> next() { return reader_.next(dialect_); }
  // Whether that may come now. Error (Protocol): as above.
  Result<void> may_come(const PmiRow& row, const PmiMessage& message) const;

  // It has said which of them it speaks; in PMI-1 it has joined with that.
  void greet(PmiDialect dialect);
  void join();
  // It may come again with another greeting.
  void leave();
  // It is not heard any more. What waits stays so.
  void end() { state_ = State::Over; }
  // ... nor answered.
  void give_up();

  std::uint32_t app_number() const { return app_number_; }
  PmiDialect dialect() const { return dialect_; }
  bool over() const { return state_ == State::Over; }
  bool must_leave() const { return state_ == State::Greeted || state_ == State::Joined; }
  bool has_joined() const { return state_ != State::Silent && state_ != State::Greeted; }
  bool ever_joined() const { return joined_; }

  PmiSpawnReader& spawns() { return spawns_; }

  // A call that waits, one for each thread.
  struct Call {
    std::string thread;  // pmi_thread()
    const PmiRow* row = nullptr;
    std::string key;  // of a GetNode
  };
  void wait(const PmiRow& row, const PmiMessage& message, std::string_view key = {});
  bool waits(PmiVerb verb) const;
  // Those that do, and wait no longer.
  std::vector<Call> take(PmiVerb verb, std::string_view key = {});
  // Null: that thread does not wait. Until the call has been answered.
  const Call* call_of(const std::string& thread) const;
  void answered(const std::string& thread) { waiting_.erase(thread); }

 private:
  enum class State : std::uint8_t { Silent, Greeted, Joined, Left, Over };

  std::uint32_t app_number_;
  State state_ = State::Silent;
  bool joined_ = false;  // at any time
  PmiDialect dialect_ = PmiDialect::One;
  PmiReader reader_;
  PmiSpawnReader spawns_;
  std::map<std::string, Call> waiting_;  // by thread
};

}  // namespace sml::rendezvous
