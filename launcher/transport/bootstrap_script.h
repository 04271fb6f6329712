// The one-line script for a host's login shell: it finds the agent's file there, or receives its bytes from the
// launcher, and starts it. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "launcher/transport/agent_image.h"

namespace sml::transport {

// Time limits that the far side keeps by itself: where the network fails, it does not even read the end of its input.
struct StartLimits {
  std::uint32_t start_s = 60;         // for the script to receive the agent's bytes
  std::uint32_t silence_ms = 30'000;  // for the agent to receive its first message
};

// The agent's role: to serve a host (Serve), or to be the reconnect helper of the agent that serves it (Return).
enum class AgentDuty : std::uint8_t { Serve, Return };

// One line for any login shell (sh, bash, zsh, dash, csh, fish): "exec /bin/sh -c '...'", where the inner script is
// POSIX sh without quotes, backslashes, newlines or exclamation marks that those shells read differently. It contains
// no text of the user or the host list. It prints the lines of common/wire/handshake.h, each beginning with `mark`
// ([a-z0-9]+).
//
// The script opens the agent's file, checks it through the descriptor, and executes that descriptor, so that it runs
// the very file that it has checked. The login's user must own the file and its folder, nobody else may be able to
// write either, and the file must have the image's size and cksum. A file whose cksum was right gets 2000-01-01 as its
// modification time, and is not read again while it has that time. In place of any other file, such as a truncated one,
// the script requests the agent's bytes. If the connection ends before all of them have come, the script ends.
//
// The agent is stored in ${XDG_CACHE_HOME:-~/.cache}/sml-run (mode 0700, owned by the login's user, not a link, and in
// no folder that another user can change), where it stays for the next job. If it cannot be stored there or executed
// from there, it goes to a new folder of mktemp -d in $XDG_RUNTIME_DIR, /dev/shm, /tmp, /var/tmp or the home, the first
// of them in which no other user can exchange it; the agent removes it as soon as it runs.
std::string bootstrap_script(const AgentImage& image, const std::string& mark, const StartLimits& limits = {},
                             AgentDuty duty = AgentDuty::Serve);

// Returns the script with a new beginning that removes these variables from the environment of the agent. A name that
// ends with '*' stands for all names with that beginning; apart from that the names consist of [A-Z0-9_].
std::string without_variables(std::string script, std::span<const std::string_view> names);

// Returns `text`, the output of a program that was given the script, with a short description in each place where the
// output quotes the script.
std::string without_bootstrap_script(std::string text);

}  // namespace sml::transport
