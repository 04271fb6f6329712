// A byte pipe to a child process: the agent itself, or a command or tool that connects to a host.
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
#include "launcher/starters/starter.h"
#include "launcher/transport/agent_image.h"
#include "launcher/transport/agent_transport.h"
#include "launcher/transport/command_words.h"

namespace sml::transport {

// For the local host: the child executes `image`, see executable_descriptor(). `mark` as in common/wire/handshake.h.
// `environment` replaces the launcher's, unless it is empty.
std::unique_ptr<AgentTransport> make_local_transport(boost::asio::any_io_executor loop, const AgentImage& image,
                                                     std::string mark, std::vector<std::string> environment = {});

// --ssh-command: runs command_words(). Keeps the last 8 KiB of the command's standard error, and passes them to
// transport_closed. If `target` has no user and no port, first looks up whether the host is this machine, on a thread
// of `pool`, and then calls transport_is_local; a name that does not resolve is left to the command. `pool` outlives
// the transport. `pipe`: as of Starter::pipe.
std::unique_ptr<AgentTransport> make_command_transport(boost::asio::any_io_executor loop,
                                                       boost::asio::thread_pool& pool, CommandTarget target,
                                                       starters::EndOfPipe pipe = starters::EndOfPipe::OfAgent);

// How to call a starter's tool for one host, see starters/starter.h.
struct ToolCommand {
  std::string name;  // of the tool, for messages
  std::string host;  // if it is this machine, the transport calls transport_is_local; empty: not checked
  // Returns the words of the call; the first is the file to execute. Called once, on a thread of the pool; may block.
  std::function<Result<std::vector<std::string>>()> words;
  std::vector<std::string> environment;  // of the tool; empty: the launcher's
  // Summarizes the tool's standard error for display. Empty result: there is no known message in it.
  std::function<std::string(std::string_view errors)> account;
  starters::EndOfPipe pipe = starters::EndOfPipe::OfAgent;
  // Whether a tool that has ended so shows that the agent has ended too; false: only the connection may have broken.
  std::function<bool(const ExitStatus& status, std::string_view errors)> agent_has_ended;
};

// Runs the tool. Until the agent's output begins, passes each summary of the tool's standard error to transport_step.
// `pool` outlives the transport.
std::unique_ptr<AgentTransport> make_tool_transport(boost::asio::any_io_executor loop, boost::asio::thread_pool& pool,
                                                    ToolCommand command);

// Runs a program of this machine, whose standard input and output are the pipe, and which becomes the agent. Handles
// its standard error as make_command_transport() does.
std::unique_ptr<AgentTransport> make_program_transport(boost::asio::any_io_executor loop,
                                                       std::vector<std::string> words);

}  // namespace sml::transport
