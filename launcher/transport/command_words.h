// The words of a command that starts the agent on a host (--ssh-command). Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"

namespace sml::transport {

struct CommandTarget {
  std::vector<std::string> command;  // --ssh-command in words, with or without placeholders: see command_words()
  std::string host;
  std::string user;                     // empty: not given
  std::string remote_command;           // one line for a shell
  std::optional<std::uint16_t> port{};  // nullopt: not given
};

// Whether any word contains a placeholder: {host} or {command}.
bool has_places(std::span<const std::string> command);

// Error (Usage): the command has placeholders and cannot work for any host: {host} is missing, or {command} is part of
// a word or occurs twice. The caller adds the name of the option.
Result<void> check_places(std::span<const std::string> command);

// The words to execute, where LINE is `remote_command`.
//
// Without placeholders, as for rsh and ssh: COMMAND [-p PORT] [USER@]HOST LINE.
//
// With placeholders, {host}, in any word, becomes [USER@]HOST; {command}, a word of its own, becomes the three words of
// a program that runs LINE, for commands that start programs without a shell, as "kubectl exec" does; without {command}
// LINE is the last word. There is no placeholder for a port: the caller has refused one. The text that replaces {host}
// is not searched for placeholders again.
std::vector<std::string> command_words(CommandTarget target);

}  // namespace sml::transport
