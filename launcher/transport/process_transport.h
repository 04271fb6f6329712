// A byte pipe to a process of this machine: the agent itself, or a command that is called like ssh.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>

#include "launcher/transport/agent_image.h"
#include "launcher/transport/agent_transport.h"
#include "launcher/transport/command_words.h"

namespace sml::launch {

// For the local host: a child that executes `image` from memory. `mark` as in wire/handshake.h. `environment` replaces
// the launcher's, unless it is empty.
std::unique_ptr<AgentTransport> make_local_transport(boost::asio::any_io_executor loop, const AgentImage& image,
                                                     std::string mark, std::vector<std::string> environment = {});

// --ssh-command: runs command_words(). Keeps the last 8 KiB of its standard error and reports them when it ends. A host
// that is this machine is local, unless a user or a port was named; only the command decides whether it can resolve the
// name. `pool` outlives the transport.
std::unique_ptr<AgentTransport> make_command_transport(boost::asio::any_io_executor loop,
                                                       boost::asio::thread_pool& pool, CommandTarget target);

}  // namespace sml::launch
