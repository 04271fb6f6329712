// Parses the far side's output until its agent runs, and derives the session events. Pure: bytes in, events out.
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
  // In so many folders of a host the agent is tried at most.
  static constexpr int kMaxFolders = 8;

  // `mark`: the prefix of the far side's lines. `image` outlives this.
  AgentArrival(std::string mark, const AgentImage& image) : image_(image), reader_(std::move(mark)) {}

  void feed(std::span<const char> bytes) { reader_.feed(bytes); }
  // Returns NeedAgent or AgentRuns if the far side has sent such a line. `unsent`: bytes of the agent that are still
  // queued when it is requested again. Error: why this host cannot have an agent.
  Result<std::optional<SessionEvent>> next(std::size_t unsent);
  // After AgentRuns: returns the bytes that followed it, which are frames.
  std::string take_rest() { return reader_.take_rest(); }

  // Whether another attempt at the transport, which has ended for the reason `why`, may succeed.
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
