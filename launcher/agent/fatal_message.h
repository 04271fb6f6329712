// Writes the agent's last message to standard error when it cannot go on.
//
// The .cc file also replaces the C++ library's own last messages (for an uncaught exception or a failed assertion of
// _GLIBCXX_ASSERTIONS): they would link in a demangler of C++ names, 50 KB of an agent that is copied to every host.
#pragma once
#include <initializer_list>
#include <string_view>

namespace sml::agent {

// Writes one line without allocating memory; ignores write errors.
void write_fatal_message(std::initializer_list<std::string_view> words);

}  // namespace sml::agent
