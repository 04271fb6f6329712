// Translates libssh's error texts into messages for the user. Pure: a table of texts.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/core/error.h"

namespace sml::ssh {

// The hint of an error about a feature that the built-in client lacks.
inline constexpr std::string_view kUseClient = "--ssh-command ssh uses the OpenSSH client instead of libssh";

// The end of a message about a failure that the OpenSSH client may avoid: it reads this keyword of the ssh config.
std::string not_read(std::string_view keyword);

// The stage in which libssh failed. Channel: opening it. Command: requesting its start.
enum class LoginStage : std::uint8_t { KeyExchange, Authentication, Channel, Command, Running };

// Returns the error for the user. `text` is libssh's; parts of it come from the remote host, so they are shortened and
// escaped in the message.
Error explain(LoginStage stage, std::string_view text);

// Whether `text` of libssh means that the connection ended without a reason: before authentication an overloaded server
// does this (MaxStartups), and a retry helps.
bool is_dropped_connection(std::string_view text);

// The error for a host that sends too many bytes during the log-in.
Error flooded();

}  // namespace sml::ssh
