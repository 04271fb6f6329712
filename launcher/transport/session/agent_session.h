// One host of the job as the launcher sees it: transport, greeting, messages. Knows nothing of other hosts.
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

// The step of a session that has logged in, while the script that starts the agent has printed nothing.
inline constexpr std::string_view kShellIsSilent =
    "starting the agent: logged in, but the shell there has not answered";

// A session's reports to its owner; on the loop thread, never from within a call of the owner into a session, except
// session_step(). The owner may destroy no session from within these.
class SessionOwner {
 public:
  virtual ~SessionOwner() = default;
  // The agent runs and has been sent its Prepare. Sending a message now saves a round trip.
  virtual void session_introduced(AgentSession& session) = 0;
  // The agent runs and has prepared; `message.errors` may say why it cannot start its workers.
  virtual void session_ready(AgentSession& session, const wire::Prepared& message) = 0;
  // HelloAck, Probed, Started, Output, ExitedWorker, Drained, AgentLog, Pong, Inspected, StdinCredit, Cleared, Bye and
  // the like, in an order that the session machine allows, and within the bounds of AgentProtocolValidator.
  virtual void session_message(AgentSession& session, wire::ToLauncher message) = 0;
  // step() has changed. May be called from within start(), prepare() and start_workers(); for display only.
  virtual void session_step(const AgentSession&) {}
  // The last call. Null: the agent has left after its Bye. Otherwise the host could not be reached, or was lost.
  virtual void session_ended(AgentSession& session, const Error* why) = 0;
};

// The agent's behaviour when the attempt is over. Stay: it serves other hosts, and waits for Leave or another attempt.
enum class Afterwards : std::uint8_t { Stay, Leave };

// Where the agent turns out to run.
enum class AgentPlace : std::uint8_t { ThisMachine, Remote };

class AgentSession final : private TransportEvents {
 public:
  struct Plan {
    HostId host;
    std::string name;
    wire::Hello hello;
    // Makes the Prepare, once the agent runs: thousands of them would take too much memory before that. Empty: one that
    // starts nothing. Called once at most by a session, which then drops it.
    std::function<wire::Prepare(AgentPlace)> prepare{};
    std::uint32_t start_limit_s = 60;
    std::optional<wire::EndLeft> end_left{};  // sent instead of Prepare
  };

  // How the far side is connected.
  struct Contact {
    bool is_local = false;      // it is this machine
    std::string local_address;  // of the connection; empty if unknown
    std::string peer_address;
    TimePoint last_heard = Clock::now();
  };

  // `owner`, `image` and `agent_launcher` outlive the session.
  AgentSession(boost::asio::any_io_executor loop, SessionOwner& owner, const AgentImage& image,
               AgentLauncher& agent_launcher, Plan plan);

  // Writes down the messages from now on; outlives the session. Null: none.
  void trace(ProtocolTrace* trace) { trace_ = trace; }
  void start();
  // Sends to the agent; ignored unless it runs.
  void send(const wire::ToAgent& message);
  // For another attempt, once the previous one is over (Cleared); ignored in another state.
  void prepare(wire::Prepare message);
  void start_workers(const wire::Start& message, Afterwards afterwards);
  // For an agent that stays: no attempt will follow. Ignored before Start, unless the agent is a spare host's.
  void release();
  // Ignored unless the agent runs.
  void end_workers(const wire::Stop& message, Afterwards afterwards);
  // Suspends the workers and the agent's timers; ignored unless the agent runs. Later messages are queued until
  // resume(), because any message from the launcher would make the agent resume.
  void suspend();
  void resume();
  // Call when nothing has been received for long: tries another connection to the agent, where the transport can
  // resume.
  void doubt();
  // Gives the host up now, in any state; session_ended follows from the loop.
  void abandon(Error why);

  HostId host() const { return plan_.host; }
  const std::string& name() const { return plan_.name; }
  SessionState state() const { return machine_.state(); }
  bool ended() const { return machine_.state() == SessionState::Ended; }
  bool agent_runs() const;
  // The step that the session waits for, for display: "connecting", "sending the agent".
  const std::string& step() const { return step_; }
  // The same in more words where it is known that something there is in the way.
  std::string awaited() const;
  const Contact& contact() const { return contact_; }
  TimePoint last_said() const;                       // when the last bytes were sent to the agent
  bool had_workers() const { return had_workers_; }  // Start has been sent to it
  const std::string& mark() const { return mark_; }
  // After session_ended: the agent died without notice, and its host can be reached as before.
  bool agent_vanished() const { return agent_vanished_; }
  // The plan of another session with that host, which ends what an agent has left there.
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
  int starts_ = 0;
  wire::Decoder<wire::ToLauncher> decoder_;
  std::unique_ptr<ResumableLink> transport_;
  std::string step_ = "starting";
  std::optional<std::string> held_back_;  // frames; set while the agent is suspended
  bool agent_vanished_ = false;
  Contact contact_;
  TimePoint last_said_;
  ProtocolTrace* trace_ = nullptr;
  bool had_workers_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sml::transport
