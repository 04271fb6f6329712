// The reconnect helper (`sml-run-agent --return`): the launcher starts it on a host after the connection to the agent
// there has broken. It sends the line by which an agent identifies itself, receives the request (ReconnectRequest) that
// names the running agent, and passes that agent its own standard input and output.
#pragma once
#include <chrono>
#include <string>

namespace sml::agent {

// Runs as long as the agent uses the connection: sshd, whose child the helper is, would close it otherwise. `mark`
// begins the helper's first line. `timeout` is the time limit until the agent has taken the connection. Returns the
// exit status: 0 if the agent has sent its last message, else 1.
int run_reconnect_helper(const std::string& mark, std::chrono::milliseconds timeout);

}  // namespace sml::agent
