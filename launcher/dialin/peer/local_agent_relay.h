// Runs the local agent for a coordinator on another host: the pre-launch task, the agent's bytes and its end, and the
// clean-up if it was killed.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/error.h"
#include "launcher/dialin/peer/agent_traces.h"
#include "launcher/dialin/peer/dialler.h"
#include "launcher/transport/agent_image.h"
#include "launcher/transport/agent_transport.h"
#include "launcher/transport/background_task.h"

namespace sml::dialin {

class LocalAgentRelayOwner {
 public:
  virtual ~LocalAgentRelayOwner() = default;
  virtual void agent_bytes(std::string_view bytes) = 0;
  virtual void agent_ended(const Error& why) = 0;
  // There is no agent, and there will be none.
  virtual void agent_cannot_start(const Error& why) = 0;
};

class LocalAgentRelay final : private launch::TransportEvents {
 public:
  // All arguments outlive this.
  LocalAgentRelay(const boost::asio::any_io_executor& loop, const DialPlan& plan, const launch::AgentImage& image,
                  LocalAgentRelayOwner& owner)
      : loop_(loop), plan_(plan), image_(image), owner_(owner) {}

  // Starts the pre-launch task, once, while the coordinator is being called.
  void prepare();
  void stop_preparing() { preparation_.reset(); }
  // The error of the pre-launch task, or why there is no plan.
  const std::optional<Error>& unprepared() const { return unprepared_; }

  // Call once. The agent, which opens with `mark`, starts when the pre-launch task is done.
  void start(const std::string& mark);
  bool asked_for() const { return mark_.has_value(); }
  bool runs() const { return agent_ && !over_; }
  void send(std::string bytes);
  void end_input();
  // Closes the agent's input, on which it ends its workers, or keeps it from starting. Returns false if the agent does
  // not run; agent_ended() is then not called.
  [[nodiscard]] bool end();
  // Ends the processes and removes the files of an agent that was killed together with its guardians. Blocks; call
  // last.
  void end_what_it_left(const std::function<void(const std::string&)>& say);

 private:
  // TransportEvents
  void transport_step(std::string_view) override {}
  void transport_is_local() override {}
  void transport_open(std::string_view, std::string_view) override {}
  void transport_bytes(std::span<const char> bytes) override;
  void transport_closed(const Error& why) override;

  void start_if_ready();

  boost::asio::any_io_executor loop_;
  const DialPlan& plan_;
  const launch::AgentImage& image_;
  LocalAgentRelayOwner& owner_;
  std::optional<launch::BackgroundTask> preparation_;
  bool ready_ = true;                // the pre-launch task is done
  std::optional<Error> unprepared_;  // the error of the pre-launch task, or why there is no plan
  std::optional<std::string> mark_;  // nullopt: the coordinator has not asked for the agent
  std::unique_ptr<launch::AgentTransport> agent_;
  std::optional<AgentTraces> traces_;  // set when the agent is started
  bool ending_ = false;
  bool over_ = false;
};

}  // namespace sml::dialin
