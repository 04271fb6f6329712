// Options of log-ins over SSH: the part of the command line for the SSH client.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"

namespace sml {

enum class HostKeyPolicy : std::uint8_t { FromConfig, AcceptNew };

struct SshOptions {
  std::optional<std::uint16_t> port;
  std::string user;
  std::string identity_file;
  std::string config_file;           // empty: ~/.ssh/config and /etc/ssh/ssh_config
  std::vector<std::string> command;  // --ssh-command, split into words; empty: libssh
  HostKeyPolicy host_keys = HostKeyPolicy::FromConfig;
  std::uint32_t fanout = 64;                            // concurrent log-ins
  Duration connect_timeout = std::chrono::seconds(15);  // for each of: TCP connection, log-in
};

// Whether an option describes how to log in.
inline bool says_how(const SshOptions& ssh) {
  return !ssh.command.empty() || ssh.port || !ssh.user.empty() || !ssh.identity_file.empty() ||
         !ssh.config_file.empty() || ssh.host_keys != HostKeyPolicy::FromConfig;
}

}  // namespace sml
