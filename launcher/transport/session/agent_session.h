// One host of the job as the launcher sees it: makes the transport, gets the agent started, and exchanges messages with
// it. Knows nothing of other hosts.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/clock.h"
#include "common/core/strong.h"
#include "common/wire/codec.h"
#include "launcher/transport/agent_image.h"
#include "launcher/transport/agent_launcher.h"
#include "launcher/transport/agent_transport.h"
#include "launcher/transport/session/agent_arrival.h"
#include "launcher/transport/session/agent_protocol_validator.h"
#include "launcher/transport/session/protocol_trace.h"
#include "launcher/transport/session/resumable_link.h"
#include "launcher/transport/session/session_machine.h"

namespace sml::transport {

class AgentSession;

// The text of AgentSession::awaited() after a log-in, while the script that starts the agent has printed nothing.
inline constexpr std::string_view kShellIsSilent =
    "starting the agent: logged in, but the shell there has not answered";

// A session's reports to its owner. Called on the loop thread, and never from within a call of the owner into a
// session, except session_step(). The owner must not destroy a session from within them.
class SessionOwner {
 public:
  virtual ~SessionOwner() = default;
  // The agent runs and has been sent its Prepare. Sending a message now saves a round trip.
  virtual void session_greeted(AgentSession& session) = 0;
  // The agent runs and has prepared; `message.errors` may have reasons why it cannot start its workers.
  virtual void session_ready(AgentSession& session, const wire::Prepared& message) = 0;
  // HelloAck, Probed, Started, Output, ExitedWorker, Drained, AgentLog, Pong, Inspected, StdinCredit, Cleared, Bye and
  // the like, in an order that the session machine allows, and within the bounds of AgentProtocolValidator.
  virtual void session_message(AgentSession& session, wire::ToLauncher message) = 0;
  // step() has changed. May be called from within start(), prepare() and start_workers(); for display only.
  virtual void session_step(const AgentSession&) {}
  // The last call. Null: the agent has left after its Bye. Otherwise the host could not be reached, or was lost.
  virtual void session_ended(AgentSession& session, const Error* why) = 0;
};

// The agent's behaviour when the attempt is over. Leave: it exits. Stay: its services for other hosts continue, and it
// waits for Leave or another attempt.
enum class Afterwards : std::uint8_t { Stay, Leave };

// Where the agent turns out to run.
enum class AgentPlace : std::uint8_t { ThisMachine, Remote };

class AgentSession final : private TransportEvents {
 public:
  struct Plan {
    HostId host;
    std::string name;
    wire::Hello hello;
    // Makes the Prepare message once the agent runs: thousands of them, made before, would take too much memory. Empty:
    // a Prepare that starts nothing. Called at most once; the session then destroys it.
    std::function<wire::Prepare(AgentPlace)> prepare{};
    std::uint32_t start_limit_s = 60;         // StartLimits::start_s
    std::optional<wire::EndLeft> end_left{};  // for a clean-up: sent, with Leave, instead of Prepare; nullopt: none
  };

  // How the far side is connected.
  struct Contact {
    bool is_local = false;                // it is this machine
    std::string local_address;            // of the connection; empty if unknown
    std::string peer_address;             // likewise
    TimePoint last_heard = Clock::now();  // when the last bytes were received
  };

  // `owner`, `image` and `agent_launcher` outlive the session.
  AgentSession(boost::asio::any_io_executor loop, SessionOwner& owner, const AgentImage& image,
               AgentLauncher& agent_launcher, Plan plan);

  // Records all messages from now on in `trace`, which outlives the session. Null: in none.
  void trace(ProtocolTrace* trace) { trace_ = trace; }
  // Call once: starts to connect.
  void start();
  // Sends to the agent; ignored unless it runs.
  void send(const wire::ToAgent& message);
  // For another attempt, once the previous one is over (Cleared); ignored in another state.
  void prepare(wire::Prepare message);
  // Ignored unless the state is Ready.
  void start_workers(const wire::Start& message, Afterwards afterwards);
  // For an agent that stays: sends Leave, as no attempt will follow. Ignored unless the state is Running or Cleared.
  void release();
  // Sends Stop, and Leave if the agent is to leave. Ignored unless the agent runs.
  void end_workers(const wire::Stop& message, Afterwards afterwards);
  // For a host that is not needed any more: as end_workers() if its agent runs; otherwise abandons the session.
  void let_go(const wire::Stop& message, Afterwards afterwards);
  // Suspends the workers and the agent's timers; ignored unless the agent runs. Later messages are queued until
  // resume(), because any message from the launcher would make the agent resume.
  void suspend();
  void resume();
  // Call when nothing has been received for long: tries another connection to the agent, where the transport can
  // resume.
  void doubt();
  // Ends the session now, in any state: the host counts as lost for the reason `why`. Ignores everything that the agent
  // sends from now on, and calls session_ended later, from the loop. No effect once the session has ended.
  void abandon(Error why);

  HostId host() const { return plan_.host; }
  const std::string& name() const { return plan_.name; }
  SessionState state() const { return machine_.state(); }
  bool ended() const { return machine_.state() == SessionState::Ended; }
  bool agent_runs() const;
  // The step that the session waits for, for display: "connecting", "sending the agent".
  const std::string& step() const { return step_; }
  // The same, or kShellIsSilent where that applies.
  std::string awaited() const;
  const Contact& contact() const { return contact_; }
  TimePoint last_sent() const;                       // when the last bytes were sent to the agent
  bool had_workers() const { return had_workers_; }  // Start has been sent to it
  const std::string& mark() const { return mark_; }
  // After session_ended: the agent ended without a Bye although the connection did not break, or can no longer be
  // reached, so a new agent may be started on the host.
  bool agent_vanished() const { return agent_vanished_; }
  // The plan of another session with that host, which ends the processes that the agent has left there. For CleanUp.
  Plan plan_of_clean_up(wire::EndLeft left) const;

 private:
  void transport_step(std::string_view step) override;
  void transport_is_local() override;
  void transport_open(std::string_view local_address, std::string_view peer_address) override;
  void transport_bytes(std::span<const char> bytes) override;
  void transport_closed(const Error& why) override;

  bool shell_is_silent() const;
  void greet();
  bool starts_again(const Error& why);
  void introduce();
  void decode();
  void handle(wire::ToLauncher message);
  void guardian_replaced();
  void give(std::string frames);  // sends, or queues while suspended
  void transmit(std::string frames);
  void break_off(const std::string& rule);
  void drop_transport();

  boost::asio::any_io_executor loop_;
  SessionOwner& owner_;
  const AgentImage& image_;
  AgentLauncher& agent_launcher_;
  Plan plan_;
  std::string mark_;
  SessionMachine machine_;
  std::optional<AgentProtocolValidator> validator_;  // set while the agent runs
  std::unique_ptr<AgentArrival> arrival_;            // until the agent runs
  int starts_ = 0;                                   // transports made so far, while connections broke
  wire::Decoder<wire::ToLauncher> decoder_;
  std::unique_ptr<ResumableLink> transport_;
  std::string step_ = "starting";
  std::optional<std::string> held_back_;  // frames; set while the agent is suspended
  bool agent_vanished_ = false;
  Contact contact_;
  TimePoint last_sent_;
  ProtocolTrace* trace_ = nullptr;  // null: none
  bool had_workers_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sml::transport
