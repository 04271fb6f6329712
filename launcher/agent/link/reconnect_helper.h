// --return: the reconnect helper. sml-run starts it on a host when its connection to the agent there has broken. The
// helper identifies itself, receives the request that names the agent, and passes that agent its own standard input and
// output.
#pragma once
#include <chrono>
#include <string>

namespace sml::agent {

// Runs for as long as the agent uses the connection: sshd, whose child the helper is, would close it otherwise. Returns
// the exit status: 0 if the agent has sent its last message.
int carry_back(const std::string& mark, std::chrono::milliseconds patience);

}  // namespace sml::agent
