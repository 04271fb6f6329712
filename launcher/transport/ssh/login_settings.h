// All settings of a log-in, from the host list, the options, the ssh config and the defaults, in that order of
// precedence. Pure except for ConfigFiles, by which it reads the config files, and may run commands of Match exec.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <sys/socket.h>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "launcher/transport/ssh/local_identity.h"
#include "launcher/transport/ssh/ssh_config.h"
#include "launcher/transport/ssh/ssh_options.h"
#include "launcher/transport/ssh/ssh_session.h"
#include "launcher/transport/ssh/ssh_transport.h"

namespace sml::ssh {

enum class UnknownHostKeys : std::uint8_t { Refuse, Add };
// The order in which host key algorithms are offered. AsListed: that of the config. KnownFirst, if the config gives no
// order: algorithms of known keys first, see known_first().
enum class HostKeyOrder : std::uint8_t { KnownFirst, AsListed };
// WhenThisMachine: there is no log-in if the host turns out to be this machine.
enum class LocalShortcut : std::uint8_t { No, WhenThisMachine };
// When the keys of the ssh agent are tried. Last: after the identity files, and only if one of them could not be used
// without the ssh agent (IdentitiesOnly).
enum class AgentTurn : std::uint8_t { First, Last, Never };
// Where LoginSettings::identities come from.
enum class IdentitySource : std::uint8_t { Config, Defaults };
enum class KeyLogin : std::uint8_t { Allowed, Forbidden };  // PubkeyAuthentication

struct LoginSettings {
  std::string name;  // of the host, as the user wrote it
  std::string host;  // HostName: the name that is resolved
  std::uint16_t port = 22;
  std::string key_name;  // looked up in known_hosts: HostKeyAlias, "host" or "[host]:port"
  // A keyword of the config that the built-in client does not know, and that may decide which host key is the right
  // one, or which host is meant; empty: none.
  std::string unread_keyword;
  LocalShortcut local = LocalShortcut::No;
  int family = AF_UNSPEC;      // or AF_INET, AF_INET6
  Duration connect_timeout{};  // for each phase
  Duration silence_limit{};    // SshOptions::silence_limit
  AbsentHosts absent_hosts = AbsentHosts::Fail;

  std::vector<std::string> proxy;  // argv of the program that is used instead of a TCP connection; empty: none

  std::vector<std::string> known_hosts;  // the user's files; new keys are written to the first
  std::vector<std::string> global_known_hosts;
  std::string revoked_host_keys;  // RevokedHostKeys: a file that must be readable; empty: none
  UnknownHostKeys unknown_host_keys = UnknownHostKeys::Refuse;
  HostKeyOrder host_key_order = HostKeyOrder::KnownFirst;

  KeyLogin key_login = KeyLogin::Allowed;
  std::string explicit_identity;        // --ssh-identity-file: tried before the ssh agent; empty: none
  std::vector<std::string> identities;  // from the config, else ssh's default files
  IdentitySource identity_source = IdentitySource::Defaults;
  std::vector<std::string> certificates;  // CertificateFile; that of a key FILE is also looked for as FILE-cert.pub
  std::string agent_socket;               // of the ssh agent; empty: none
  AgentTurn agent_turn = AgentTurn::First;

  SessionSetup session;
};

// Reads the config by `files`, which may run commands of Match exec, and so block. Error: Config.
Result<LoginSettings> settle(const SshOptions& options, const SshTarget& target, const LocalIdentity& self,
                             const ConfigFiles& files);

}  // namespace sml::ssh
