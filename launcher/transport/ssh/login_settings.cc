#include "launcher/transport/ssh/login_settings.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "launcher/transport/ssh/algorithms.h"

namespace sml::ssh {
namespace {

using Tokens = std::map<char, std::string>;

Tokens local_tokens(const LocalIdentity& self) {
  return {{'d', self.home},
          {'i', std::to_string(self.uid)},
          {'l', self.host_name},
          {'L', self.host_name.substr(0, self.host_name.find('.'))},
          {'u', self.user}};
}

Result<SshConfig> read_config(const SshOptions& options, const SshTarget& target, const LocalIdentity& self,
                              const ConfigFiles& files) {
  const auto port = target.port ? target.port : options.port;
  SshConfig config({target.name, target.user.empty() ? options.user : target.user, self.user, self.home,
                    port ? std::to_string(*port) : "", local_tokens(self)},
                   files);
  if (!options.config_file.empty()) {
    const auto taken = config.read_file(options.config_file, ConfigRole::Named, self.home + "/.ssh");
    if (!taken) return taken.error();
    return config;
  }
  const std::string folder = self.home + "/.ssh";
  if (const auto taken = config.read_file(folder + "/config", ConfigRole::Users, folder); !taken) return taken.error();
  const auto taken = config.read_file("/etc/ssh/ssh_config", ConfigRole::Systems, "/etc/ssh");
  if (!taken) return taken.error();
  return config;
}

// Expands "~/x", "${NAME}" and %-tokens in a path of the config.
Result<std::string> expand_path(std::string text, const Tokens& tokens, const LocalIdentity& self) {
  for (auto begin = text.find("${"); begin != std::string::npos; begin = text.find("${", begin)) {
    const auto end = text.find('}', begin);
    if (end == std::string::npos) break;
    const std::string value = self.environment(text.substr(begin + 2, end - begin - 2));
    text.replace(begin, end + 1 - begin, value);
    begin += value.size();
  }
  if (text.starts_with("~/")) text = self.home + text.substr(1);
  return expand_tokens(text, tokens);
}

Result<std::vector<std::string>> expand_paths(const std::vector<std::string>& texts, const Tokens& tokens,
                                              const LocalIdentity& self) {
  std::vector<std::string> paths;
  for (const std::string& text : texts) {
    if (lower(text) == "none") continue;
    auto path = expand_path(text, tokens, self);
    if (!path) return path.error();
    paths.push_back(std::move(*path));
  }
  return paths;
}

class Settler {
 public:
  Settler(const SshOptions& options, const SshTarget& target, const LocalIdentity& self, const SshConfig& config)
      : options_(options), target_(target), self_(self), config_(config) {}

  Result<LoginSettings> settle() {
    for (const auto part :
         {&Settler::address, &Settler::proxy, &Settler::host_keys, &Settler::identities, &Settler::algorithms}) {
      if (auto done = (this->*part)(); !done) return done.error();
    }
    return std::move(settings_);
  }

 private:
  Result<void> address() {
    settings_.name = target_.name;
    auto host = expand_tokens(config_.value("hostname"), {{'h', target_.name}});
    if (!host) return host.error();
    settings_.host = host->empty() ? target_.name : *host;
    for (const std::string& user : {target_.user, options_.user, config_.value("user"), self_.user}) {
      if (settings_.session.user.empty()) settings_.session.user = user;
    }
    std::optional<std::uint16_t> configured;
    if (!config_.value("port").empty()) {
      configured = parse_number<std::uint16_t>(config_.value("port"));
      if (configured.value_or(0) == 0) return bad("Port");
    }
    settings_.port = target_.port.value_or(options_.port.value_or(configured.value_or(22)));
    // A port for this host, from the host list or the configuration, means a different server on this machine, perhaps
    // a container; --ssh-port is for all hosts.
    const bool own_server = target_.port.value_or(configured.value_or(22)) != 22;
    if (!own_server && settings_.session.user == self_.user) settings_.local = LocalShortcut::WhenThisMachine;
    settings_.connect_timeout = options_.connect_timeout.value_or(kConnectTimeout);
    if (const std::string& text = config_.value("connecttimeout"); !text.empty() && lower(text) != "none") {
      const auto timeout = parse_duration(text);
      if (!timeout || *timeout <= Duration::zero()) return bad("ConnectTimeout");
      if (!options_.connect_timeout) settings_.connect_timeout = *timeout;
    }
    settings_.silence_limit = options_.silence_limit;
    settings_.absent_hosts = options_.absent_hosts.value_or(AbsentHosts::Fail);
    if (const std::string& text = config_.value("connectionattempts"); !text.empty()) {
      const auto attempts = parse_number<std::uint32_t>(text);
      if (attempts.value_or(0) == 0) return bad("ConnectionAttempts");
      if (*attempts > 1 && !options_.absent_hosts) settings_.absent_hosts = AbsentHosts::AreAwaited;
    }
    if (config_.value("addressfamily") == "inet") settings_.family = AF_INET;
    if (config_.value("addressfamily") == "inet6") settings_.family = AF_INET6;
    return {};
  }

  Result<void> proxy() {
    const std::string& jump = config_.value("proxyjump");
    const std::string& command = config_.value("proxycommand");
    if (!jump.empty() && lower(jump) != "none") return proxy_jump(jump);
    if (jump.empty() && !command.empty() && lower(command) != "none") return proxy_command(command);
    return {};
  }

  Result<void> proxy_command(const std::string& text) {
    // Words that are inserted into a shell command must not contain shell syntax.
    for (const std::string& word : {settings_.host, target_.name, settings_.session.user}) {
      if (!is_plain_word(word))
        return Error(ErrorKind::Config, "'" + show(word) + "' cannot be used in a ProxyCommand");
    }
    auto command = expand_tokens(text, tokens());
    if (!command) return command.error();
    const bool execs = command->starts_with("exec ");
    settings_.proxy = {"/bin/sh", "-c", execs ? *command : "exec " + *command};
    settings_.local = LocalShortcut::No;
    return {};
  }

  // As the OpenSSH client does: the last jump is a client process, which reaches the earlier ones by -J.
  Result<void> proxy_jump(const std::string& text) {
    auto jumps = split_list(text, ',');
    if (jumps.empty() || !is_plain_word(settings_.host)) return bad("ProxyJump");
    for (const std::string& jump : jumps) {
      if (jump.starts_with('-') || jump.find_first_of(" \t'\"\\$`;&|<>(){}") != std::string::npos)
        return bad("ProxyJump");
    }
    std::string last = jumps.back();
    jumps.pop_back();
    auto& argv = settings_.proxy;
    argv = {"ssh", "-o", "BatchMode=yes"};
    if (!options_.config_file.empty()) argv.insert(argv.end(), {"-F", options_.config_file});
    if (options_.host_keys == HostKeyPolicy::AcceptNew)
      argv.insert(argv.end(), {"-o", "StrictHostKeyChecking=accept-new"});
    if (!jumps.empty()) {
      std::string earlier;
      for (const std::string& jump : jumps) earlier += (earlier.empty() ? "" : ",") + jump;
      argv.insert(argv.end(), {"-J", earlier});
    }
    argv.insert(argv.end(), {"-W", "[" + settings_.host + "]:" + std::to_string(settings_.port)});
    if (!last.starts_with("ssh://")) last = "ssh://" + last;  // the form with user, [v6] and port in one word
    argv.push_back(last);
    settings_.local = LocalShortcut::No;
    return {};
  }

  Result<void> host_keys() {
    const std::string& alias = config_.value("hostkeyalias");
    const std::string host = lower(alias.empty() ? settings_.host : alias);
    const bool plain = !alias.empty() || settings_.port == 22;
    settings_.key_name = plain ? host : "[" + host + "]:" + std::to_string(settings_.port);
    for (const std::string_view keyword : {"KnownHostsCommand", "CanonicalizeHostname"}) {
      const std::string value = lower(config_.value(lower(keyword)));
      if (!value.empty() && value != "no" && value != "none") settings_.unread_keyword = keyword;
    }
    const std::string strict = lower(config_.value("stricthostkeychecking"));
    const bool add =
        strict == "accept-new" || strict == "no" || strict == "off" || options_.host_keys == HostKeyPolicy::AcceptNew;
    settings_.unknown_host_keys = add ? UnknownHostKeys::Add : UnknownHostKeys::Refuse;
    std::vector<std::string> revoked;
    if (!set_paths("revokedhostkeys", {}, revoked)) return bad("RevokedHostKeys");
    if (!revoked.empty()) settings_.revoked_host_keys = revoked.front();
    const std::string folder = self_.home + "/.ssh/";
    return set_paths("userknownhostsfile", {folder + "known_hosts", folder + "known_hosts2"}, settings_.known_hosts) &&
                   set_paths("globalknownhostsfile", {"/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"},
                             settings_.global_known_hosts)
               ? Result<void>()
               : bad("UserKnownHostsFile or GlobalKnownHostsFile");
  }

  bool set_paths(std::string_view keyword, std::vector<std::string> defaults, std::vector<std::string>& paths) const {
    if (config_.words(keyword).empty()) {
      paths = std::move(defaults);
      return true;
    }
    auto expanded = expand_paths(config_.words(keyword), tokens(), self_);
    if (!expanded) return false;
    paths = std::move(*expanded);
    return true;
  }

  Result<void> identities() {
    const std::string folder = self_.home + "/.ssh/";
    settings_.explicit_identity = options_.identity_file;
    if (options_.identity_file.starts_with("~/"))
      settings_.explicit_identity = self_.home + options_.identity_file.substr(1);
    auto configured = expand_paths(config_.identity_files(), tokens(), self_);
    if (!configured) return configured.error();
    settings_.identities = std::move(*configured);
    auto certificates = expand_paths(config_.certificate_files(), tokens(), self_);
    if (!certificates) return certificates.error();
    settings_.certificates = std::move(*certificates);
    settings_.identity_source = config_.identity_files().empty() ? IdentitySource::Defaults : IdentitySource::Config;
    if (settings_.identity_source == IdentitySource::Defaults) {
      settings_.identities = {folder + "id_ed25519", folder + "id_ecdsa", folder + "id_rsa"};
    }
    if (lower(config_.value("identitiesonly")) == "yes") settings_.agent_turn = AgentTurn::Last;
    if (lower(config_.value("pubkeyauthentication")) == "no") settings_.key_login = KeyLogin::Forbidden;
    return agent();
  }

  Result<void> agent() {
    const std::string& asked = config_.value("identityagent");
    if (asked.empty() || asked == "SSH_AUTH_SOCK") {
      settings_.agent_socket = self_.environment("SSH_AUTH_SOCK");
    } else if (asked.starts_with('$') && !asked.starts_with("${")) {
      settings_.agent_socket = self_.environment(asked.substr(1));
    } else if (lower(asked) != "none") {
      auto path = expand_path(asked, tokens(), self_);
      if (!path) return path.error();
      settings_.agent_socket = std::move(*path);
    }
    if (settings_.agent_socket.empty()) settings_.agent_turn = AgentTurn::Never;
    return {};
  }

  Result<void> algorithms() {
    const std::string& host_keys = config_.value("hostkeyalgorithms");
    const bool default_order = host_keys.empty() || host_keys.starts_with('+') || host_keys.starts_with('-');
    settings_.host_key_order = default_order ? HostKeyOrder::KnownFirst : HostKeyOrder::AsListed;
    const std::string& accepted = config_.value("pubkeyacceptedalgorithms");
    const struct {
      std::string& to;
      const std::string& list;
      const Algorithms& algorithms;
    } rows[] = {
        {settings_.session.host_key_algorithms, host_keys, kHostKeys},
        {settings_.session.key_exchange, config_.value("kexalgorithms"), kKeyExchange},
        {settings_.session.ciphers, config_.value("ciphers"), kCiphers},
        {settings_.session.macs, config_.value("macs"), kMacs},
        {settings_.session.public_key_algorithms, accepted.empty() ? config_.value("pubkeyacceptedkeytypes") : accepted,
         kPublicKeys},
    };
    for (const auto& row : rows) {
      auto chosen = choose_algorithms(row.list, row.algorithms);
      if (!chosen) return chosen.error();
      row.to = std::move(*chosen);
    }
    return {};
  }

  Tokens tokens() const {
    const std::string& alias = config_.value("hostkeyalias");
    Tokens all = local_tokens(self_);
    all.insert({{'h', settings_.host},
                {'n', target_.name},
                {'k', alias.empty() ? target_.name : alias},
                {'p', std::to_string(settings_.port)},
                {'r', settings_.session.user}});
    return all;
  }

  static Error bad(std::string_view keyword) {
    return Error(ErrorKind::Config, "the ssh config has an unusable value of " + std::string(keyword));
  }

  const SshOptions& options_;
  const SshTarget& target_;
  const LocalIdentity& self_;
  const SshConfig& config_;
  LoginSettings settings_;
};

}  // namespace

Result<LoginSettings> settle(const SshOptions& options, const SshTarget& target, const LocalIdentity& self,
                             const ConfigFiles& files) {
  const auto config = read_config(options, target, self, files);
  if (!config) return config.error();
  return Settler(options, target, self, *config).settle();
}

}  // namespace sml::ssh
