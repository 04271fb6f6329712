// An agent's byte pipe to a process of this machine: the agent itself, or a command that is called like ssh.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>

#include "launcher/launch/agent_image.h"
#include "launcher/launch/agent_transport.h"

namespace sml::launch {

// The local host: a child that executes `image` from memory. `mark` as in wire/handshake.h. `environment` instead of
// ours, unless it is empty.
std::unique_ptr<AgentTransport> make_local_transport(boost::asio::any_io_executor loop, const AgentImage& image,
                                                     std::string mark, std::vector<std::string> environment = {});

// --ssh-command: runs `command` + [user@]host + one argument that holds the remote command line, as rsh and ssh take
// it. Its standard error is kept (the last 8 KiB) and told when it ends. A host that is this machine is local, unless a
// user or a port was named; whether the name can be resolved at all is the command's business. `pool` outlives the
// transport.
struct CommandTarget {
  std::vector<std::string> command;
  std::string host;
  std::string user;  // empty: not named
  std::string remote_command;
  std::optional<std::uint16_t> port{};  // empty: not named; else the command gets "-p PORT" before the host
};
std::unique_ptr<AgentTransport> make_command_transport(boost::asio::any_io_executor loop,
                                                       boost::asio::thread_pool& pool, CommandTarget target);

}  // namespace sml::launch
