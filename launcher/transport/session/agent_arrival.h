// Parses the far side's output until its agent runs (common/wire/handshake.h), and derives the session events. Pure.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "common/core/error.h"
#include "common/wire/handshake.h"
#include "launcher/transport/agent_image.h"
#include "launcher/transport/agent_launcher.h"
#include "launcher/transport/session/session_machine.h"

namespace sml::transport {

class AgentArrival {
 public:
  // The far side may request the agent's bytes this often: once for each folder in which it tries to store them.
  static constexpr int kMaxFolders = 8;

  // `mark`: the prefix of the far side's lines. `image` outlives this.
  AgentArrival(std::string mark, const AgentImage& image) : image_(image), reader_(std::move(mark)) {}

  void feed(std::span<const char> bytes) { reader_.feed(bytes); }
  // Returns NeedAgent or AgentRuns if the far side has sent such a line; nullopt: the next line is incomplete.
  // `unsent`: bytes that are queued and not sent; a request while there are any is an error. Error: why this host
  // cannot have an agent.
  Result<std::optional<SessionEvent>> next(std::size_t unsent);
  // After AgentRuns: returns the bytes that followed it, which are frames.
  std::string take_rest() { return reader_.take_rest(); }

  // Whether `why`, for which the transport has ended, is a broken connection: then another transport may succeed.
  static bool has_broken(const Error& why);
  // The error for an agent that never ran because the transport ended for the reason `why`.
  Error explain(const Error& why, AgentLauncher::Start start) const;

 private:
  Result<void> may_be_sent(const wire::NeedAgent& need, std::size_t unsent);

  const AgentImage& image_;
  wire::GreetingReader reader_;
  int times_asked_ = 0;  // requests for the agent
};

}  // namespace sml::transport
