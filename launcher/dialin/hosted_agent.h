// The agent that runs here for a head elsewhere: what this host does before it, its bytes, its end, and what it has
// left if it was killed.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/error.h"
#include "launcher/dialin/agent_traces.h"
#include "launcher/dialin/dialler.h"
#include "launcher/launch/agent_image.h"
#include "launcher/launch/agent_transport.h"
#include "launcher/launch/preparation.h"

namespace sml::dialin {

class HostedAgentOwner {
 public:
  virtual ~HostedAgentOwner() = default;
  virtual void agent_bytes(std::string_view bytes) = 0;
  virtual void agent_ended(const Error& why) = 0;
  // There is none, and will be none.
  virtual void agent_cannot_start(const Error& why) = 0;
};

class HostedAgent final : private launch::TransportEvents {
 public:
  // All of it outlives this.
  HostedAgent(const boost::asio::any_io_executor& loop, const DialPlan& plan, const launch::AgentImage& image,
              HostedAgentOwner& owner)
      : loop_(loop), plan_(plan), image_(image), owner_(owner) {}

  // What comes before it, once, while the head is being called.
  void prepare();
  void stop_preparing() { preparation_.reset(); }
  // How that failed, or why there is no plan.
  const std::optional<Error>& unprepared() const { return unprepared_; }

  // Once, by the mark that it is to open with: it starts when this host is ready.
  void start(const std::string& mark);
  bool asked_for() const { return mark_.has_value(); }
  bool runs() const { return agent_ && !over_; }
  void send(std::string bytes);
  void end_input();
  // It ends its workers, or does not start any more. False: it does not run, and no end of it is told.
  [[nodiscard]] bool end();
  // Nothing else happens any more. Of one that was killed together with those that watch over it.
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
  HostedAgentOwner& owner_;
  std::optional<launch::Preparation> preparation_;
  bool ready_ = true;                // with the chore
  std::optional<Error> unprepared_;  // how it failed, or why there is no plan
  std::optional<std::string> mark_;  // empty: the head has not asked for it
  std::unique_ptr<launch::AgentTransport> agent_;
  std::optional<AgentTraces> traces_;  // from when there is an agent
  bool ending_ = false;
  bool over_ = false;
};

}  // namespace sml::dialin
