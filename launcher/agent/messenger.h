// --return: what sml-run starts on a host when its connection to the agent there has broken. It says who it is, is told
// which agent is meant, and hands that one its own standard input and output.
#pragma once
#include <chrono>
#include <string>

namespace sml::agent {

// Lives for as long as the agent uses what it was given: sshd, whose child it is, would end the connection with it.
// Answers the exit status: 0 where the agent has said its last word.
int carry_back(const std::string& mark, std::chrono::milliseconds patience);

}  // namespace sml::agent
