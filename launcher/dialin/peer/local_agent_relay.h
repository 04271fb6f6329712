// Runs the local agent for a coordinator on another host: runs the pre-launch task, starts the agent, relays its bytes,
// reports its end, and cleans up if it was killed. One thread, the loop's.
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

class LocalAgentRelay final : private transport::TransportEvents {
 public:
  // `plan`, `image` and `owner` outlive this.
  LocalAgentRelay(const boost::asio::any_io_executor& loop, const DialPlan& plan, const transport::AgentImage& image,
                  LocalAgentRelayOwner& owner)
      : loop_(loop), plan_(plan), image_(image), owner_(owner) {}

  // Starts the pre-launch task, once, while this host connects to the coordinator.
  void prepare();
  void stop_preparing() { preparation_.reset(); }
  // Why this host cannot take part: the error of the pre-launch task, or the plan's own. nullopt so far: none.
  const std::optional<Error>& unprepared() const { return unprepared_; }

  // Call once. The agent, whose output begins with `mark`, starts when the pre-launch task is done.
  void start(const std::string& mark);
  bool asked_for() const { return mark_.has_value(); }
  bool runs() const { return agent_ && !over_; }
  void send(std::string bytes);
  void end_input();
  // Makes the agent end its workers, by closing its input. An agent that has not been started never will be; then this
  // returns false, and agent_ended() is not called.
  [[nodiscard]] bool end();
  // Kills the processes and removes the files that the agent left if it was killed together with the guardian that
  // does so otherwise. `print` receives a sentence for each. Blocks; call last.
  void end_what_it_left(const std::function<void(const std::string&)>& print);

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
  const transport::AgentImage& image_;
  LocalAgentRelayOwner& owner_;
  std::optional<transport::BackgroundTask> preparation_;
  bool ready_ = true;                // no pre-launch task is pending
  std::optional<Error> unprepared_;  // the error of the pre-launch task, or why there is no plan
  std::optional<std::string> mark_;  // nullopt: the coordinator has not asked for the agent
  std::unique_ptr<transport::AgentTransport> agent_;
  std::optional<AgentTraces> traces_;  // set when the agent is started
  bool ending_ = false;
  bool over_ = false;
};

}  // namespace sml::dialin
