#include "launcher/transport/ssh/host_keys/host_key_check.h"

#include "common/core/text.h"
#include "launcher/transport/ssh/ssh_error.h"

namespace sml::ssh {
namespace {

std::string print_of(const HostKey& key) {
  const std::string print = fingerprint(key);
  return show(key.type) + " " + (print.empty() ? "(unreadable)" : print);
}

// " (looked up as 10.0.0.1)" if the name looked up in known_hosts differs from the one that the user wrote.
std::string looked_up(const LoginSettings& settings) {
  return settings.key_name == settings.name ? "" : " (looked up as " + show(settings.key_name) + ")";
}

Error refusal(KeyVerdict verdict, const HostKey& shown, const KnownKey& against, const LoginSettings& settings) {
  const std::string where = show(against.file) + " line " + std::to_string(against.line);
  if (verdict == KeyVerdict::Revoked) {
    return Error(ErrorKind::HostKey, "the host key is revoked in " + where + ": " + print_of(shown));
  }
  const std::string_view what = verdict == KeyVerdict::Changed ? "the host key has changed"
                                                               : "the host key is of another type than the known one";
  return Error(ErrorKind::HostKey, std::string(what) + looked_up(settings) + ": it is " + print_of(shown) + ", " +
                                       where + " has " + print_of(against.key))
      .with_hint("somebody may be listening in; if the host was set up anew: ssh-keygen -f " +
                 shell_quote(against.file) + " -R " + shell_quote(settings.key_name));
}

// ssh-keyscan(1) writes the names that it is given: it cannot add a key under another name.
std::string how_to_add(const HostKey& shown, const LoginSettings& settings) {
  const std::string port = std::to_string(settings.port);
  const bool has_its_name =
      settings.key_name == settings.name || settings.key_name == "[" + settings.name + "]:" + port;
  const std::string_view type = shown.type;
  const std::string_view short_type = type.starts_with("ecdsa") ? "ecdsa" : type == "ssh-rsa" ? "rsa" : "ed25519";
  if (!has_its_name || !settings.proxy.empty() || settings.known_hosts.empty() ||
      settings.known_hosts.front() == "/dev/null" || (short_type == "ed25519" && type != "ssh-ed25519")) {
    return "if that is the right key: --accept-new-host-keys adds it";
  }
  return "compare with the hosts' own keys (ssh-keygen -lf /etc/ssh/ssh_host_" + std::string(short_type) +
         "_key.pub); if they are right: ssh-keyscan -t " + std::string(short_type) +
         (settings.port == 22 ? "" : " -p " + port) + " {hosts} >> " + shell_quote(settings.known_hosts.front()) +
         ", or --accept-new-host-keys";
}

Error unknown(const HostKey& shown, const std::optional<KnownKey>& authority, const LoginSettings& settings) {
  const std::string what = "the host key is not known" + looked_up(settings);
  if (!authority && !settings.unread_keyword.empty()) {
    return Error(ErrorKind::HostKey, what + not_read(settings.unread_keyword))
        .with_detail(print_of(shown))
        .with_hint(std::string(kUseClient));
  }
  if (!authority)
    return Error(ErrorKind::HostKey, what).with_detail(print_of(shown)).with_hint(how_to_add(shown, settings));
  return Error(ErrorKind::HostKey, what + ": " + print_of(shown) + "; " + show(authority->file) + " line " +
                                       std::to_string(authority->line) +
                                       " trusts the certificates of an authority (@cert-authority), and the built-in "
                                       "SSH client checks no host certificates")
      .with_hint("ssh checks them: --ssh-command 'ssh -o BatchMode=yes'; or add the host's own key to known_hosts");
}

}  // namespace

Result<void> check_host_key(const HostKey& shown, std::span<const KnownKey> known, const LoginSettings& settings) {
  if (shown.base64.empty()) return Error(ErrorKind::HostKey, "the host showed no key that libssh can read");
  const KeyComparison comparison = compare(known, shown);
  switch (comparison.verdict) {
    case KeyVerdict::Known: return {};
    case KeyVerdict::Changed:
    case KeyVerdict::OtherType:
    case KeyVerdict::Revoked: return refusal(comparison.verdict, shown, *comparison.against, settings);
    case KeyVerdict::Unknown: break;
  }
  if (settings.unknown_host_keys == UnknownHostKeys::Refuse) return unknown(shown, comparison.against, settings);
  if (settings.known_hosts.empty()) return {};
  auto added = add_known_host(settings.known_hosts.front(), settings.key_name, shown);
  if (!added && added.error().kind() == ErrorKind::HostKey) return added;
  return {};
}

}  // namespace sml::ssh
