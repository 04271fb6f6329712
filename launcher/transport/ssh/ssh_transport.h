// An agent's byte pipe over libssh: one connection, one channel per host.
//
// The log-in (resolve, connect, key exchange, host key, authentication, channel, exec) runs on a thread of a bounded
// pool; then the loop thread owns the session for good. Never prompts for keys, never uses passwords.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>

#include "launcher/transport/agent_transport.h"
#include "launcher/transport/ssh/ssh_options.h"

namespace sml::ssh {

struct SshTarget {
  std::string name;                     // as the user wrote it; the ssh config applies to it
  std::string user;                     // from the host list; empty: --ssh-user, ssh config, or the local user
  std::string remote_command;           // one command line for the login shell
  std::optional<std::uint16_t> port{};  // from the host list; empty: --ssh-port, ssh config, or 22
};

// The local user is the effective user of the passwd file, and so is the home that contains ~/.ssh, as with ssh; $HOME
// is used only if that file has no entry. The ssh configuration, known_hosts and the agent are read at each log-in.
//
// If the host resolves to this machine, the transport calls transport_is_local, unless the host list or the ssh config
// gives it a port other than 22, there is a proxy, or the log-in is as another user.
//
// `pool` and `options` outlive the transport. To destroy the transport never blocks: a log-in thread that hangs in the
// resolver (getaddrinfo cannot be cancelled) ends some time later, and its result is dropped. The thread posts no
// handler to the loop once the transport is destroyed, so the loop may be destroyed before the pool; but joining the
// pool waits for the thread. The process must ignore SIGPIPE.
//
// transport_closed carries ErrorKind Config, Resolve, Connect, HostKey, Auth, Timeout or Io before transport_open, and
// Lost after it.
std::unique_ptr<transport::AgentTransport> make_ssh_transport(boost::asio::any_io_executor loop,
                                                              boost::asio::thread_pool& pool, const SshOptions& options,
                                                              SshTarget target);

}  // namespace sml::ssh
