// The options of the command line that concern log-ins over SSH; `fanout` counts for other ways to reach hosts, too.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"

namespace sml {

// Whether unknown host keys are accepted and added. FromConfig: by StrictHostKeyChecking.
enum class HostKeyPolicy : std::uint8_t { FromConfig, AcceptNew };

// How to treat a host whose name does not resolve, or whose SSH server does not answer. Fail: as an error. AreAwaited:
// as a host that has not started yet, which is tried again every second until --start-timeout.
enum class AbsentHosts : std::uint8_t { Fail, AreAwaited };

inline constexpr Duration kConnectTimeout = std::chrono::seconds(15);

struct SshOptions {
  std::optional<std::uint16_t> port;  // for hosts listed without one; nullopt: by the ssh config
  std::string user;                   // for hosts listed without one; empty: by the ssh config
  std::string identity_file;          // a key to try before all others; empty: none
  std::string config_file;            // empty: ~/.ssh/config and /etc/ssh/ssh_config
  std::vector<std::string> command;   // --ssh-command, split into words; empty: the built-in client (libssh)
  HostKeyPolicy host_keys = HostKeyPolicy::FromConfig;
  // nullopt: AreAwaited if ConnectionAttempts of the ssh config is above 1
  std::optional<AbsentHosts> absent_hosts;
  std::uint32_t fanout = 64;  // concurrent log-ins and name look-ups
  // of each phase: TCP connection, key exchange, log-in, start; nullopt: that of the ssh config, else kConnectTimeout
  std::optional<Duration> connect_timeout;
  // --heartbeat-timeout: a host that is silent for longer is lost; TCP keeps the connection for at least so long
  Duration silence_limit{};
};

// Whether an option was given that affects how to log in; absent_hosts, fanout and time limits do not.
inline bool gives_ssh_options(const SshOptions& ssh) {
  return !ssh.command.empty() || ssh.port || !ssh.user.empty() || !ssh.identity_file.empty() ||
         !ssh.config_file.empty() || ssh.host_keys != HostKeyPolicy::FromConfig;
}

}  // namespace sml
