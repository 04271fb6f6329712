// The one-line script for a host's login shell: it finds the agent there, or receives its bytes, and starts it. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "launcher/transport/agent_image.h"

namespace sml::transport {

// Limits for a launcher that is cut off, so that the far side does not even read the end of its input.
struct StartLimits {
  std::uint32_t start_s = 60;         // for the agent's bytes
  std::uint32_t silence_ms = 30'000;  // for the first message to the agent
};

// The agent's role: to serve a host, or to act as a reconnect helper for the agent that does.
enum class AgentDuty : std::uint8_t { Serve, Return };

// One line for any login shell (sh, bash, zsh, dash, csh, fish): "exec /bin/sh -c '...'", where the inner script is
// POSIX sh without quotes, backslashes, newlines or exclamation marks that those shells read differently. Nothing in it
// comes from the user or the host list. It prints the lines of common/wire/handshake.h, each beginning with `mark`
// ([a-z0-9]+).
//
// It executes an open descriptor, after checking the file through it: a file that the login owns and nobody else can
// write, in a folder of the same kind, with the image's size and cksum. A file whose cksum was right gets 2000-01-01 as
// its modification time, and is not read again while it has that time. Any other file, such as a truncated one, is sent
// again. A connection that ends before the whole agent has come ends the script.
//
// The agent goes to ${XDG_CACHE_HOME:-~/.cache}/sml-run (mode 0700, must be owned by the login, no link, and in no
// folder that another user can change), where it stays for the next job. If that cannot be written or executed from, it
// goes to a new folder of mktemp -d in $XDG_RUNTIME_DIR, /dev/shm, /tmp, /var/tmp or the home, which the agent removes
// as soon as it runs.
std::string bootstrap_script(const AgentImage& image, const std::string& mark, const StartLimits& limits = {},
                             AgentDuty duty = AgentDuty::Serve);

// The script, which begins by removing variables from the environment of the agent. A name that ends with '*' stands
// for all that begin so; the names hold [A-Z0-9_] otherwise.
std::string without_variables(std::string script, std::span<const std::string_view> names);

// Removes the script from `text`, the output of a program that got it, where that quotes it.
std::string without_bootstrap_script(std::string text);

}  // namespace sml::transport
