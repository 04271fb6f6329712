#include "launcher/dialin/peer/agent_traces.h"

#include <utility>
#include <variant>

namespace sml::dialin {

AgentTraces::AgentTraces(std::string mark) : mark_(std::move(mark)), greeting_(mark_) {}

void AgentTraces::feed(std::span<const char> bytes) {
  if (over_) return;
  if (runs_) {
    decoder_.feed(bytes);
  } else {
    greeting_.feed(bytes);
    look_for_greeting();
  }
  if (!runs_) return;
  const Result<std::optional<wire::ToLauncher>> first = decoder_.next();
  if (first && !first->has_value()) return;
  over_ = true;  // also if it is invalid: the coordinator checks it
  const auto* ack = first ? std::get_if<wire::HelloAck>(&**first) : nullptr;
  if (ack == nullptr) return;
  found_ = wire::EndLeft{.mark = mark_, .cgroup = ack->cgroup, .scratch = ack->scratch};
}

void AgentTraces::look_for_greeting() {
  const Result<std::optional<wire::Greeting>> line = greeting_.next();
  over_ = !line || (line->has_value() && !std::holds_alternative<wire::AgentRuns>(**line));
  runs_ = !over_ && line->has_value();
  if (runs_) decoder_.feed(greeting_.take_rest());
}

}  // namespace sml::dialin
