// The log-in: from a host name to a session that runs the remote command. Blocks, so it runs on a thread of the pool.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/os/fd.h"
#include "launcher/net/waiting.h"
#include "launcher/ssh/proxy_command.h"
#include "launcher/ssh/ssh_options.h"
#include "launcher/ssh/ssh_session.h"
#include "launcher/ssh/ssh_transport.h"

namespace sml::ssh {

// A session whose command runs. Order of members: the session goes before the socket, the socket before the process.
struct LoggedIn {
  ProxyCommand proxy;
  os::UniqueFd socket;  // for readiness; the session has a duplicate
  SshSession session;
  std::string local_address;  // empty with a proxy
  std::string peer_address;
};
struct IsThisMachine {};
using LoginOutcome = std::variant<LoggedIn, IsThisMachine, Error>;

// Called as each step begins (names: see TransportEvents::transport_step), on the calling thread. The step ends by
// itself within `limit`, unless the resolver, the file system or the ssh agent hangs: nothing here can end those.
using StepReport = std::function<void(std::string_view step, Duration limit)>;

// Once `cancel` is set it returns at its next wait, with some Error; only a hanging resolver (getaddrinfo cannot be
// cancelled) or file system makes that late.
LoginOutcome log_in(const SshOptions& options, const SshTarget& target, net::CancelToken& cancel,
                    const StepReport& report);

}  // namespace sml::ssh
