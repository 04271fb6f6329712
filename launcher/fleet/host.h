// One host of the run that has workers, or may get some: the session with its agent, and what is known of the machine.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/supervise/agent_clock.h"
#include "common/wire/messages.h"
#include "launcher/fleet/addresses.h"
#include "launcher/launch/agent_session.h"

namespace sml::fleet {

struct Host {
  HostId id;
  HostIndex index;             // in the plan
  std::size_t position = 0;    // in the fleet; rank 0 is on the first
  bool lost = false;           // it has failed, or could not be reached: later attempts do without it
  bool is_other_name = false;  // of a machine that the job has as another host; lost, too
  bool released = false;       // and its agent was told to leave
  bool unreached = true;       // its session has not been started
  TimePoint pinged{};          // the last time
  std::unique_ptr<launch::AgentSession> session;
  std::optional<wire::Prepare> next{};  // of the attempt that is to come
  supervise::AgentClock clock;
  std::int32_t agent_pid = 0;
  wire::EndLeft traces;                       // by which its processes are found if the agent vanishes
  std::string machine;                        // by which its agent knows it
  std::vector<std::string> addresses;         // as its agent tells them
  std::vector<std::string> chosen_addresses;  // of the interfaces that the user asks for

  const std::string& name() const { return session->name(); }
  bool runs() const { return session->agent_runs(); }
  void ping();
  // What it tells of itself and its clock; it is pinged when it greets.
  void note(const wire::ToLauncher& message);
};

OnThisMachine place_of(const launch::AgentSession& session);

// What is known of the addresses of each, in the order of the fleet.
std::vector<HostAddresses> known_addresses(std::span<const Host> hosts);

// Why a host has failed that was not ready in time; `step` is what it was waited for.
Error not_ready(Duration after, const std::string& step);

// What to look for on a host whose shell is silent (launch::kShellIsSilent).
inline constexpr std::string_view kSilentShellHint =
    "does a start-up file there start another program (exec zsh) or wait for input? Or is the account for sftp only? "
    "\"ssh HOST hostname\" is to print a name";

// What its agent says stands in the way.
Error error_of(const wire::Obstacle& obstacle);

}  // namespace sml::fleet
