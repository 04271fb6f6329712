#include "launcher/transport/ssh/algorithms.h"

#include <algorithm>
#include <string>
#include <vector>

#include "common/core/text.h"
#include "launcher/transport/ssh/ssh_config.h"
#include "launcher/transport/ssh/ssh_error.h"

namespace sml::ssh {
namespace {

using Names = std::vector<std::string>;

bool holds(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Each of `patterns` in turn, and what it stands for among `names`.
void add_matching(Names& to, const Names& patterns, const Names& names) {
  for (const std::string& pattern : patterns) {
    for (const std::string& name : names) {
      if (matches_pattern_list(name, {pattern}) && !holds(to, name)) to.push_back(name);
    }
  }
}

}  // namespace

// curve25519 costs 1 ms; what a server without it may have follows. No SHA-1.
constexpr Algorithms kKeyExchange{
    "KexAlgorithms",
    "curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256,ecdh-sha2-nistp384,ecdh-sha2-nistp521,"
    "diffie-hellman-group18-sha512,diffie-hellman-group16-sha512,diffie-hellman-group14-sha256",
    "curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256,ecdh-sha2-nistp384,ecdh-sha2-nistp521,"
    "diffie-hellman-group18-sha512,diffie-hellman-group16-sha512,diffie-hellman-group-exchange-sha256,"
    "diffie-hellman-group14-sha256,diffie-hellman-group-exchange-sha1,diffie-hellman-group14-sha1,"
    "diffie-hellman-group1-sha1"};
// AES-GCM first: quickest with AES instructions. chacha20 and CBC are not offered: with servers that lack strict key
// exchange, which libssh does not report, they are open to prefix truncation (CVE-2023-48795). Ciphers in the ssh
// config can name them.
constexpr Algorithms kCiphers{
    "Ciphers", "aes128-gcm@openssh.com,aes256-gcm@openssh.com,aes256-ctr,aes192-ctr,aes128-ctr",
    "aes128-gcm@openssh.com,aes256-gcm@openssh.com,aes256-ctr,aes192-ctr,aes128-ctr,chacha20-poly1305@openssh.com,"
    "aes256-cbc,aes192-cbc,aes128-cbc,3des-cbc"};
constexpr Algorithms kMacs{"MACs",
                           "hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-sha2-256,hmac-sha2-512",
                           "hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-sha2-256,hmac-sha2-512,"
                           "hmac-sha1-etm@openssh.com,hmac-sha1"};
// Without certificates of hosts, which libssh does not read.
constexpr Algorithms kHostKeys{
    "HostKeyAlgorithms",
    "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521,"
    "sk-ssh-ed25519@openssh.com,sk-ecdsa-sha2-nistp256@openssh.com,rsa-sha2-512,rsa-sha2-256",
    "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521,"
    "sk-ssh-ed25519@openssh.com,sk-ecdsa-sha2-nistp256@openssh.com,rsa-sha2-512,rsa-sha2-256,"
    "ssh-rsa"};
constexpr Algorithms kPublicKeys{
    "PubkeyAcceptedAlgorithms",
    "ssh-ed25519-cert-v01@openssh.com,ecdsa-sha2-nistp521-cert-v01@openssh.com,"
    "ecdsa-sha2-nistp384-cert-v01@openssh.com,ecdsa-sha2-nistp256-cert-v01@openssh.com,"
    "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com,rsa-sha2-512-cert-v01@openssh.com,rsa-sha2-256-cert-v01@openssh.com,"
    "ssh-ed25519,ecdsa-sha2-nistp521,ecdsa-sha2-nistp384,ecdsa-sha2-nistp256,sk-ssh-ed25519@openssh.com,"
    "sk-ecdsa-sha2-nistp256@openssh.com,rsa-sha2-512,rsa-sha2-256",
    "ssh-ed25519-cert-v01@openssh.com,sk-ssh-ed25519-cert-v01@openssh.com,ecdsa-sha2-nistp521-cert-v01@openssh.com,"
    "ecdsa-sha2-nistp384-cert-v01@openssh.com,ecdsa-sha2-nistp256-cert-v01@openssh.com,"
    "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com,rsa-sha2-512-cert-v01@openssh.com,rsa-sha2-256-cert-v01@openssh.com,"
    "ssh-rsa-cert-v01@openssh.com,ssh-ed25519,ecdsa-sha2-nistp521,ecdsa-sha2-nistp384,ecdsa-sha2-nistp256,"
    "sk-ssh-ed25519@openssh.com,sk-ecdsa-sha2-nistp256@openssh.com,rsa-sha2-512,rsa-sha2-256,ssh-rsa"};

Result<std::string> choose_algorithms(std::string_view list, const Algorithms& algorithms) {
  if (list.empty()) return std::string(algorithms.by_default);
  const Names usual = split_list(algorithms.by_default, ',');
  const Names known = split_list(algorithms.known, ',');
  const char sign = list.front();
  const Names asked = split_list(sign == '+' || sign == '-' || sign == '^' ? list.substr(1) : list, ',');
  Names chosen;
  if (sign == '+') chosen = usual;
  if (sign == '-') {
    std::copy_if(usual.begin(), usual.end(), std::back_inserter(chosen),
                 [&](const std::string& name) { return !matches_pattern_list(name, asked); });
  } else {
    add_matching(chosen, asked, known);
  }
  if (sign == '^') add_matching(chosen, usual, usual);
  if (chosen.empty()) {
    return Error(ErrorKind::Config, "the built-in SSH client has none of the " + std::string(algorithms.keyword) +
                                        " of the ssh config: " + show(list))
        .with_hint(std::string(kUseClient));
  }
  std::string text;
  for (const std::string& name : chosen) text.append(text.empty() ? "" : ",").append(name);
  return text;
}

}  // namespace sml::ssh
