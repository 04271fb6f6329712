// What went wrong in words for the user, from what libssh says. Pure: a table of texts.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/core/error.h"

namespace sml::ssh {

// A hint, where what the built-in client lacks is needed.
inline constexpr std::string_view kUseClient = "--ssh-command ssh uses the OpenSSH client instead of libssh";

enum class LoginStage : std::uint8_t { KeyExchange, Authentication, Channel, Command, Running };

// `text` is libssh's; parts of it come from the far side, so it is bounded and escaped in the message.
Error explain(LoginStage stage, std::string_view text);

// The connection just ended, without a reason: before authentication this is what an overloaded server does
// (MaxStartups), and trying again helps.
bool is_dropped_connection(std::string_view text);

// The other side sends without end where a few words are expected.
Error flooded();

}  // namespace sml::ssh
