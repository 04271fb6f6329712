// The log-in: from a host name to an SSH session that runs the remote command. Blocks, so it runs on a thread of the
// pool.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/os/fd.h"
#include "launcher/transport/net/waiting.h"
#include "launcher/transport/ssh/proxy_command.h"
#include "launcher/transport/ssh/ssh_options.h"
#include "launcher/transport/ssh/ssh_session.h"
#include "launcher/transport/ssh/ssh_transport.h"

namespace sml::ssh {

// An SSH session, the command of which runs. The order of members makes the session end before the socket, and the
// socket before the proxy's process.
struct LoggedIn {
  ProxyCommand proxy;   // without a process if no proxy is used
  os::UniqueFd socket;  // to wait for readiness; the session has a duplicate
  SshSession session;
  std::string local_address;  // empty with a proxy
  std::string peer_address;   // likewise
};
struct IsThisMachine {};
using LoginOutcome = std::variant<LoggedIn, IsThisMachine, Error>;

// Called when a step begins (names: see TransportEvents::transport_step), on the thread of log_in(). The step ends
// within `limit`, unless the resolver, the file system or the ssh agent hangs: log_in() cannot interrupt these.
using StepReport = std::function<void(std::string_view step, Duration limit)>;

// Blocks until the command runs, or the log-in has failed. With AbsentHosts::AreAwaited it tries again every second,
// without a time limit of its own, while the name does not resolve or no server answers on the port; the owner cancels
// `cancel` when it has waited enough.
//
// Once `cancel` is cancelled, returns at its next wait, with some Error; only a hanging resolver (getaddrinfo cannot be
// cancelled) or file system delays that.
LoginOutcome log_in(const SshOptions& options, const SshTarget& target, net::CancelToken& cancel,
                    const StepReport& report);

}  // namespace sml::ssh
