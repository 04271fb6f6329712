// One host of the job, with workers or without: the session with its agent, and the facts about its machine.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/wire/messages.h"
#include "launcher/fleet/addresses.h"
#include "launcher/fleet/agent_clock.h"
#include "launcher/transport/session/agent_session.h"

namespace sml::fleet {

struct Host {
  HostId id;
  HostIndex index;             // in the plan of this attempt
  bool lost = false;           // it has failed, or could not be reached: later attempts do without it
  bool is_other_name = false;  // a second name of a machine that the job has under another name; implies lost
  bool released = false;       // it is lost, and its agent was asked to leave
  bool unreached = true;       // its session has not been started
  TimePoint pinged{};          // time of the last ping
  std::unique_ptr<transport::AgentSession> session;
  std::unique_ptr<wire::Prepare> next{};  // for the next attempt, sent by Fleet::start(); null: none
  fleet::AgentClock clock;
  std::int32_t agent_pid = 0;                 // on its machine; 0 before its HelloAck
  wire::EndLeft traces;                       // by which another agent finds its processes if it vanishes
  std::string machine;                        // HelloAck::machine: equal for hosts that are one machine; empty: unknown
  std::vector<std::string> addresses;         // as its agent reports them, filtered
  std::vector<std::string> chosen_addresses;  // of the interfaces that the user chose, filtered

  const std::string& name() const { return session->name(); }
  bool runs() const { return session->agent_runs(); }
  void ping();
  // Records what the agent reports about itself and its clock in HelloAck and Pong; ignores other messages. Sends the
  // first ping after HelloAck.
  void note(const wire::ToLauncher& message);
};

OnThisMachine place_of(const transport::AgentSession& session);

// The known addresses of a host, or of each host in the order of `hosts`.
HostAddresses known_addresses(const Host& host);
std::vector<HostAddresses> known_addresses(std::span<const Host> hosts);

// The error for a host that was not ready within `after`. `step`: AgentSession::awaited(), for the text.
Error not_ready(Duration after, const std::string& step);

// Advice for a host whose shell is silent (transport::kShellIsSilent).
inline constexpr std::string_view kSilentShellHint =
    "does a start-up file there start another program (exec zsh) or wait for input? Or is the account for sftp only? "
    "\"ssh HOST hostname\" is to print a name";

// The agent's preflight error as an Error.
Error error_of(const wire::PreflightError& error);

}  // namespace sml::fleet
