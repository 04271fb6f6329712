// The pipe to the agent of a host that a step has started, and that calls.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "launcher/dialin/step/step_calls.h"
#include "launcher/transport/agent_transport.h"

namespace sml::dialin {

class StepTransport final : public transport::AgentTransport, private StepAwaiter, private StepProgramEvents {
 public:
  // Another transport for a host that lacks this program; null: there is none.
  using Instead = std::function<std::unique_ptr<transport::AgentTransport>()>;

  // Runs `script` there. `no_program` is the error for a host that lacks this program.
  StepTransport(std::shared_ptr<StepCalls> calls, std::string host, std::string script, Error no_program,
                Instead instead);
  ~StepTransport() override;

  void start(transport::TransportEvents& events) override;
  void send(std::string bytes) override;
  std::size_t unsent() const override;
  bool far_side_ended() const override;
  bool far_side_ended_well() const override;
  void finish() override;

 private:
  // StepAwaiter
  const std::string& awaited_host() const override { return host_; }
  void awaited_step(const std::string& text) override { events_->transport_step(text); }
  void host_calls(const std::shared_ptr<StepCaller>& caller) override;
  void host_lacks_program() override;
  void host_fails(const Error& why) override;
  // StepProgramEvents
  void program_says(std::span<const char> bytes) override { events_->transport_bytes(bytes); }
  void program_ended(const std::string& text) override;
  void program_lost(const Error& why) override;

  std::shared_ptr<StepCalls> calls_;
  std::string host_;
  std::string script_;
  Error no_program_;
  Instead instead_;
  transport::TransportEvents* events_ = nullptr;
  std::shared_ptr<StepCaller> caller_;
  std::unique_ptr<transport::AgentTransport> other_;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
  bool ended_ = false;
  bool ended_well_ = false;
};

}  // namespace sml::dialin
