// Options of log-ins over SSH: the part of the command line for the SSH client.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"

namespace sml {

enum class HostKeyPolicy : std::uint8_t { FromConfig, AcceptNew };

// A host whose name does not resolve, or whose SSH server does not answer: is it a mistake, or is the host about to
// come?
enum class AbsentHosts : std::uint8_t { Fail, AreAwaited };

struct SshOptions {
  std::optional<std::uint16_t> port;
  std::string user;
  std::string identity_file;
  std::string config_file;           // empty: ~/.ssh/config and /etc/ssh/ssh_config
  std::vector<std::string> command;  // --ssh-command, split into words; empty: libssh
  HostKeyPolicy host_keys = HostKeyPolicy::FromConfig;
  std::optional<AbsentHosts> absent_hosts;              // empty: as ConnectionAttempts of the ssh configuration says
  std::uint32_t fanout = 64;                            // concurrent log-ins
  Duration connect_timeout = std::chrono::seconds(15);  // for each of: TCP connection, log-in
  Duration silence_limit{};                             // a host silent for longer is lost (--heartbeat-timeout)
};

// Whether an option describes how to log in.
inline bool says_how(const SshOptions& ssh) {
  return !ssh.command.empty() || ssh.port || !ssh.user.empty() || !ssh.identity_file.empty() ||
         !ssh.config_file.empty() || ssh.host_keys != HostKeyPolicy::FromConfig;
}

}  // namespace sml
