// The options of the command line that concern log-ins over SSH.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"

namespace sml {

// Whether unknown host keys are accepted and added. FromConfig: as StrictHostKeyChecking says.
enum class HostKeyPolicy : std::uint8_t { FromConfig, AcceptNew };

// How to treat a host whose name does not resolve, or whose SSH server does not answer: as an error, or as a host that
// has not started yet.
enum class AbsentHosts : std::uint8_t { Fail, AreAwaited };

struct SshOptions {
  std::optional<std::uint16_t> port;  // nullopt: as the ssh config says
  std::string user;                   // empty: as the ssh config says
  std::string identity_file;          // empty: none
  std::string config_file;            // empty: ~/.ssh/config and /etc/ssh/ssh_config
  std::vector<std::string> command;   // --ssh-command, split into words; empty: libssh
  HostKeyPolicy host_keys = HostKeyPolicy::FromConfig;
  std::optional<AbsentHosts> absent_hosts;              // nullopt: as ConnectionAttempts of the ssh config says
  std::uint32_t fanout = 64;                            // concurrent log-ins
  Duration connect_timeout = std::chrono::seconds(15);  // for each of: TCP connection, log-in
  Duration silence_limit{};                             // a host silent for longer is lost (--heartbeat-timeout)
};

// Whether any option that describes how to log in was given.
inline bool gives_ssh_options(const SshOptions& ssh) {
  return !ssh.command.empty() || ssh.port || !ssh.user.empty() || !ssh.identity_file.empty() ||
         !ssh.config_file.empty() || ssh.host_keys != HostKeyPolicy::FromConfig;
}

}  // namespace sml
