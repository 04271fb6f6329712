// Reads a copy of the agent's output on its way to the coordinator, and extracts from the agent's HelloAck the data by
// which this host finds and ends what the agent leaves behind if it is killed. Pure.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "common/wire/codec.h"
#include "common/wire/handshake.h"
#include "common/wire/messages.h"

namespace sml::dialin {

class AgentTraces {
 public:
  // `mark`: the mark with which the agent opens its greeting.
  explicit AgentTraces(std::string mark);

  // Takes the bytes that the agent writes, from the first byte on. Parses only the greeting line and the first message,
  // and ignores all bytes after them or after an unexpected one.
  void feed(std::span<const char> bytes);
  // Returns nullopt until the agent has answered the coordinator's Hello; until then it has started no process.
  const std::optional<wire::EndLeft>& found() const { return found_; }

 private:
  void look_for_greeting();

  std::string mark_;
  wire::GreetingReader greeting_;
  wire::Decoder<wire::ToLauncher> decoder_;
  bool runs_ = false;  // the greeting line has been received
  bool over_ = false;  // ignores all further bytes
  std::optional<wire::EndLeft> found_;
};

}  // namespace sml::dialin
