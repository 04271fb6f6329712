// What an agent tells of itself when it is greeted, read on its way to the head: by that its host finds what it has
// left there if it is killed. Pure.
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
  // `mark`: by which the agent opens.
  explicit AgentTraces(std::string mark);

  // What the agent writes, from its first byte. Looks at nothing behind its greeting, nor at what is none.
  void feed(std::span<const char> bytes);
  // Nothing: it has not been greeted, and so has started nothing.
  const std::optional<wire::EndLeft>& found() const { return found_; }

 private:
  void look_for_greeting();

  std::string mark_;
  wire::GreetingReader greeting_;
  wire::Decoder<wire::ToLauncher> decoder_;
  bool runs_ = false;  // its first line has come
  bool over_ = false;
  std::optional<wire::EndLeft> found_;
};

}  // namespace sml::dialin
