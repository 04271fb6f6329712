// A transport without a far side: remembers what it was given, and lets a test say what the far side says.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "launcher/transport/agent_transport.h"

namespace sml::fake {

// What one ScriptedTransport saw, and the strings by which a test moves it. Outlives the transport, as sessions destroy
// theirs.
struct TransportLog {
  std::string argument;                          // the mark (local) or the remote command
  transport::TransportEvents* events = nullptr;  // null: not started, or destroyed
  std::vector<std::string> sent;
  bool finished = false;
  bool ended = false;   // the far side's program has
  bool killed = false;  // and by a signal
  bool destroyed = false;
  std::string all_sent() const;
};

class ScriptedTransport final : public transport::AgentTransport {
 public:
  explicit ScriptedTransport(std::shared_ptr<TransportLog> log) : log_(std::move(log)) {}
  ~ScriptedTransport() override;

  void start(transport::TransportEvents& events) override { log_->events = &events; }
  void send(std::string bytes) override { log_->sent.push_back(std::move(bytes)); }
  std::size_t unsent() const override { return 0; }
  void finish() override { log_->finished = true; }
  bool far_side_ended() const override { return log_->ended; }
  bool sees_kills() const override { return true; }
  bool far_side_killed() const override { return log_->killed; }

 private:
  std::shared_ptr<TransportLog> log_;
};

}  // namespace sml::fake
