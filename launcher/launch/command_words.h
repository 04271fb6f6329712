// The words of a command that starts the agent on a host (--ssh-command). Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"

namespace sml::launch {

struct CommandTarget {
  std::vector<std::string> command;
  std::string host;
  std::string user;                     // empty: not named
  std::string remote_command;           // one line for a shell
  std::optional<std::uint16_t> port{};  // empty: not named
};

// That a word holds {host} or {command}.
bool has_places(std::span<const std::string> command);

// Fails where a command with places cannot be one for each host. The caller says which option it is.
Result<void> check_places(std::span<const std::string> command);

// Without places as rsh and ssh take it: COMMAND [-p PORT] [USER@]HOST LINE.
//
// With places {host}, in any word, is [USER@]HOST; {command}, a word of its own, is the three words of a program that
// runs LINE, for commands that start programs and no shell, as "kubectl exec" does; without {command} LINE is the last
// word. A port has no place: the caller has refused it. What stands for {host} is not searched for places again.
std::vector<std::string> command_words(CommandTarget target);

}  // namespace sml::launch
