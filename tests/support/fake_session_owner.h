// A job of one session that only writes down what it is told.
#pragma once
#include <optional>
#include <vector>

#include "launcher/transport/session/agent_session.h"

namespace sml::fake {

struct RecordingOwner final : transport::SessionOwner {
  void session_greeted(transport::AgentSession& session) override {
    if (probe_when_introduced) session.send(wire::Probe{});
  }
  void session_ready(transport::AgentSession&, const wire::Prepared& message) override { ready.push_back(message); }
  void session_message(transport::AgentSession&, wire::ToLauncher message) override {
    messages.push_back(std::move(message));
  }
  void session_ended(transport::AgentSession&, const Error* why) override {
    ++ends;
    if (why != nullptr) error = *why;
  }

  template <class Message>
  std::size_t count() const {
    std::size_t n = 0;
    for (const wire::ToLauncher& message : messages) n += std::holds_alternative<Message>(message) ? 1 : 0;
    return n;
  }

  bool probe_when_introduced = false;
  std::vector<wire::Prepared> ready;
  std::vector<wire::ToLauncher> messages;
  int ends = 0;
  std::optional<Error> error;  // none: it ended well, or has not ended
};

}  // namespace sml::fake
