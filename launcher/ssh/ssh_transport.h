// An agent's byte pipe over libssh: one connection, one channel per host.
//
// The log-in (resolve, connect, key exchange, host key, authentication, channel, exec) runs on a thread of a bounded
// pool; then the session belongs to the loop thread for good. Keys are never asked for, passwords never used.
#pragma once
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>

#include "launcher/launch/agent_transport.h"
#include "launcher/options.h"

namespace sml::ssh {

struct SshTarget {
  std::string name;            // as the user named it; ssh config applies to it
  std::string user;            // from the host list; empty: --ssh-user, ssh config, or the local user
  std::string remote_command;  // one command line for the login shell
};

// `pool` and `options` outlive the transport. transport_closed carries ErrorKind Resolve, Connect, HostKey, Auth,
// Timeout or Io.
std::unique_ptr<launch::AgentTransport> make_ssh_transport(boost::asio::any_io_executor loop,
                                                           boost::asio::thread_pool& pool, const SshOptions& options,
                                                           SshTarget target);

}  // namespace sml::ssh
