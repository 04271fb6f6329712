// Translates libssh's error texts into messages for the user. Pure: a table of texts.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/core/error.h"

namespace sml::ssh {

// A hint, where what the built-in client lacks is needed.
inline constexpr std::string_view kUseClient = "--ssh-command ssh uses the OpenSSH client instead of libssh";

enum class LoginStage : std::uint8_t { KeyExchange, Authentication, Channel, Command, Running };

// `text` is libssh's; parts of it come from the remote host, so it is bounded and escaped in the message.
Error explain(LoginStage stage, std::string_view text);

// Whether the connection just ended, without a reason: before authentication an overloaded server does this
// (MaxStartups), and a retry helps.
bool is_dropped_connection(std::string_view text);

// The error for a host that sends without end where a few bytes are expected.
Error flooded();

}  // namespace sml::ssh
