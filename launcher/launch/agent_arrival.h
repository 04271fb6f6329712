// What the far side says until its agent runs, and what that asks of us. Pure: bytes in, events out.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "common/core/error.h"
#include "common/wire/handshake.h"
#include "launcher/launch/agent_image.h"
#include "launcher/launch/reach.h"
#include "launcher/launch/session_machine.h"

namespace sml::launch {

class AgentArrival {
 public:
  // `mark`: with which its lines begin. `image` outlives this.
  AgentArrival(std::string mark, const AgentImage& image) : image_(image), reader_(std::move(mark)) {}

  void feed(std::span<const char> bytes) { reader_.feed(bytes); }
  // NeedAgent or AgentRuns, if it has said so; `unsent`: of the agent's bytes, when it is asked for once more. The
  // error says why this host cannot have one.
  Result<std::optional<SessionEvent>> next(std::size_t unsent);
  // After AgentRuns: what came behind that, which are frames.
  std::string take_rest() { return reader_.take_rest(); }

  // Whether the transport, which has ended for the reason `why`, may do better when it is made once more.
  static bool has_broken(const Error& why);
  // Why it never ran, where the transport ended for the reason `why`.
  Error explain(const Error& why, Reach::Start start) const;

 private:
  Result<void> may_be_sent(const wire::NeedAgent& need, std::size_t unsent);

  const AgentImage& image_;
  wire::GreetingReader reader_;
  int times_asked_ = 0;  // for the agent
};

}  // namespace sml::launch
