// A byte pipe to a process of this machine: the agent itself, or a command that is called like ssh.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>

#include "common/core/error.h"
#include "common/core/exit_status.h"
#include "launcher/transport/agent_image.h"
#include "launcher/transport/agent_transport.h"
#include "launcher/transport/command_words.h"

namespace sml::transport {

// For the local host: a child that executes `image` from memory. `mark` as in wire/handshake.h. `environment` replaces
// the launcher's, unless it is empty.
std::unique_ptr<AgentTransport> make_local_transport(boost::asio::any_io_executor loop, const AgentImage& image,
                                                     std::string mark, std::vector<std::string> environment = {});

// --ssh-command: runs command_words(). Keeps the last 8 KiB of its standard error and reports them when it ends. A host
// that is this machine is local, unless a user or a port was named; only the command decides whether it can resolve the
// name. `pool` outlives the transport.
std::unique_ptr<AgentTransport> make_command_transport(boost::asio::any_io_executor loop,
                                                       boost::asio::thread_pool& pool, CommandTarget target);

// A starter's tool for one host, see starters/starter.h.
struct ToolCommand {
  std::string name;  // of the tool, for messages
  std::string host;  // local if it is this machine; empty: not known
  // The words, of which the first is the file to execute. Called once, on a thread of the pool; may block.
  std::function<Result<std::vector<std::string>>()> words;
  std::vector<std::string> environment;
  std::function<std::string(std::string_view errors)> account;  // of a tool that has ended; empty: nothing known
  std::function<bool(const ExitStatus& status, std::string_view errors)> agent_has_ended;
};

// Runs it. What it prints as errors before the agent's output begins is displayed, as `account` has it, as the step
// that is waited for.
std::unique_ptr<AgentTransport> make_tool_transport(boost::asio::any_io_executor loop, boost::asio::thread_pool& pool,
                                                    ToolCommand command);

// Runs a program of this machine; keeps its standard error as make_command_transport() does.
std::unique_ptr<AgentTransport> make_program_transport(boost::asio::any_io_executor loop,
                                                       std::vector<std::string> words);

}  // namespace sml::transport
