// Transport to the agent of a host on which a step runs: waits for the host's call, and has it start the agent.
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
  // Makes another transport for a host that lacks this program; an empty function: there is none.
  using Instead = std::function<std::unique_ptr<transport::AgentTransport>()>;

  // Runs `script` on the host. `no_program` is the error for a host that lacks this program and has no `instead`.
  StepTransport(std::shared_ptr<StepCalls> calls, std::string host, std::string script, Error no_program,
                Instead instead);
  ~StepTransport() override;

  void start(transport::TransportEvents& events) override;
  void send(std::string bytes) override;
  std::size_t unsent() const override;
  bool far_side_ended() const override;
  bool far_side_ended_well() const override;
  bool ends_with_guardian() const override { return other_ && other_->ends_with_guardian(); }
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
  std::shared_ptr<StepCaller> caller_;                         // null: the host has not called
  std::unique_ptr<transport::AgentTransport> other_;           // made by instead_; null: not needed
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  // expires with this; pending callbacks check it
  bool ended_ = false;                                         // far_side_ended()
  bool ended_well_ = false;                                    // far_side_ended_well()
};

}  // namespace sml::dialin
