// The one line that a host's login shell is given: it finds the agent there, or takes its bytes, and starts it. Pure.
#pragma once
#include <cstdint>
#include <string>

#include "launcher/launch/agent_image.h"

namespace sml::launch {

// For a launcher that is cut off, so that not even the end of its bytes comes.
struct StartLimits {
  std::uint32_t start_s = 60;         // for the agent's bytes
  std::uint32_t silence_ms = 30'000;  // for the first word to the agent
};

// What the agent is started for: to serve a host, or as a messenger to the one that does.
enum class AgentDuty : std::uint8_t { Serve, Return };

// One line for any login shell (sh, bash, zsh, dash, csh, fish): "exec /bin/sh -c '...'", where the inner script is
// POSIX sh without quotes, backslashes, newlines or exclamation marks that those shells read differently. Nothing in it
// comes from the user or the host list. It speaks the lines of common/wire/handshake.h, each beginning with `mark`
// ([a-z0-9]+).
//
// What is executed is an open descriptor, after a look through it: a file of the login's own that nobody else can
// write, in such a folder, with the image's size and cksum. Who has been found whole gets 2000-01-01 as time of its
// last write, and is not read again as long as it has that. A file that is not so, cut short for instance, is sent
// again. A connection that ends before the whole agent has come ends the script.
//
// Where the agent goes: ${XDG_CACHE_HOME:-~/.cache}/sml-run (mode 0700, must be the login's own, no link, and in no
// folder that another user can change), where it stays for the next job; if that cannot be written or executed from, a
// new folder of mktemp -d in $XDG_RUNTIME_DIR, /dev/shm,
// /tmp, /var/tmp or the home, which the agent removes as soon as it runs.
std::string bootstrap_script(const AgentImage& image, const std::string& mark, const StartLimits& limits = {},
                             AgentDuty duty = AgentDuty::Serve);

// What somebody who was given the script has said, with the script taken out where it is quoted.
std::string without_bootstrap_script(std::string text);

}  // namespace sml::launch
