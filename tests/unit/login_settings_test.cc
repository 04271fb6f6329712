#include "launcher/transport/ssh/login_settings.h"

#include "launcher/transport/ssh/certificates/certificate.h"
#include "launcher/transport/ssh/host_keys/host_key_check.h"
#include "launcher/transport/ssh/ssh_error.h"
#include "tests/support/catch.h"

using namespace sml::ssh;
using sml::HostKeyPolicy;
using sml::SshOptions;

namespace {

LocalIdentity me() {
  return {.uid = 1000,
          .user = "me",
          .home = "/nonexistent/me",
          .host_name = "here.example",
          .environment = [](const std::string& name) { return name == "SSH_AUTH_SOCK" ? "/agent" : std::string(); }};
}

sml::Result<LoginSettings> settle_with(const std::string& config, const SshTarget& target, SshOptions options = {}) {
  const auto read = [&](const std::string& path, FileTrust) -> sml::Result<std::optional<std::string>> {
    return path == "/nonexistent/me/.ssh/config" || path == options.config_file ? std::optional(config) : std::nullopt;
  };
  return settle(options, target, me(), {read, [](const std::string&) { return std::vector<std::string>(); }});
}

LoginSettings settled(const std::string& config, const SshTarget& target, const SshOptions& options = {}) {
  const auto settings = settle_with(config, target, options);
  INFO((settings ? "" : settings.error().message()));
  REQUIRE(settings.has_value());
  return *settings;
}

}  // namespace

TEST_CASE("host list over option over config over default", "[ssh]") {
  SshOptions options;
  CHECK(settled("", {"a", "", ""}).session.user == "me");
  CHECK(settled("User c", {"a", "", ""}).session.user == "c");
  options.user = "o";
  CHECK(settled("User c", {"a", "", ""}, options).session.user == "o");
  CHECK(settled("User c", {"a", "h", ""}, options).session.user == "h");
  CHECK(settled("", {"a", "", ""}).port == 22);
  CHECK(settled("Port 23", {"a", "", ""}).port == 23);
  options.port = 24;
  CHECK(settled("Port 23", {"a", "", ""}, options).port == 24);
  CHECK(settled("Port 23", {"a", "", "", 25}, options).port == 25);
  CHECK_FALSE(settle_with("Port 70000", {"a", "", ""}).has_value());
  CHECK(settled("", {"a", "", ""}).connect_timeout == std::chrono::seconds(15));
  CHECK(settled("ConnectTimeout 3", {"a", "", ""}).connect_timeout == std::chrono::seconds(3));
  options.connect_timeout = std::chrono::seconds(60);
  CHECK(settled("ConnectTimeout 3", {"a", "", ""}, options).connect_timeout == std::chrono::seconds(60));
  CHECK_FALSE(settle_with("ConnectTimeout x", {"a", "", ""}, options).has_value());
}

TEST_CASE("hosts that come late are waited for where the config or an option says so", "[ssh]") {
  using sml::AbsentHosts;
  SshOptions wait;
  wait.absent_hosts = AbsentHosts::AreAwaited;
  SshOptions refuse;
  refuse.absent_hosts = AbsentHosts::Fail;
  CHECK(settled("", {"a", "", ""}).absent_hosts == AbsentHosts::Fail);
  CHECK(settled("", {"a", "", ""}, wait).absent_hosts == AbsentHosts::AreAwaited);
  CHECK(settled("ConnectionAttempts 1", {"a", "", ""}).absent_hosts == AbsentHosts::Fail);
  CHECK(settled("ConnectionAttempts 1", {"a", "", ""}, wait).absent_hosts == AbsentHosts::AreAwaited);
  CHECK(settled("Host a\nConnectionAttempts 10", {"a", "", ""}).absent_hosts == AbsentHosts::AreAwaited);
  CHECK(settled("Host a\nConnectionAttempts 10", {"b", "", ""}).absent_hosts == AbsentHosts::Fail);
  CHECK(settled("ConnectionAttempts 10", {"a", "", ""}, refuse).absent_hosts == AbsentHosts::Fail);
  CHECK_FALSE(settle_with("ConnectionAttempts 0", {"a", "", ""}).has_value());
  CHECK_FALSE(settle_with("ConnectionAttempts many", {"a", "", ""}).has_value());
}

TEST_CASE("the name that known_hosts is asked for", "[ssh]") {
  CHECK(settled("", {"A", "", ""}).key_name == "a");
  CHECK(settled("HostName 10.0.0.1", {"a", "", ""}).key_name == "10.0.0.1");
  CHECK(settled("Port 2222", {"a", "", ""}).key_name == "[a]:2222");
  CHECK(settled("Port 2222\nHostKeyAlias k", {"a", "", ""}).key_name == "k");
}

TEST_CASE("unknown host keys are added only where that is said", "[ssh]") {
  SshOptions accept;
  accept.host_keys = HostKeyPolicy::AcceptNew;
  CHECK(settled("", {"a", "", ""}).unknown_host_keys == UnknownHostKeys::Refuse);
  CHECK(settled("StrictHostKeyChecking yes", {"a", "", ""}).unknown_host_keys == UnknownHostKeys::Refuse);
  CHECK(settled("StrictHostKeyChecking ask", {"a", "", ""}).unknown_host_keys == UnknownHostKeys::Refuse);
  CHECK(settled("StrictHostKeyChecking accept-new", {"a", "", ""}).unknown_host_keys == UnknownHostKeys::Add);
  CHECK(settled("StrictHostKeyChecking no", {"a", "", ""}).unknown_host_keys == UnknownHostKeys::Add);
  CHECK(settled("", {"a", "", ""}, accept).unknown_host_keys == UnknownHostKeys::Add);
  CHECK(settled("UserKnownHostsFile ~/x /dev/null", {"a", "", ""}).known_hosts ==
        std::vector<std::string>{"/nonexistent/me/x", "/dev/null"});
}

TEST_CASE("where the config has a keyword for host keys that is not read, an unknown key is refused with its name",
          "[ssh]") {
  CHECK(settled("KnownHostsCommand none\nCanonicalizeHostname no", {"a", "", ""}).unread_keyword.empty());
  CHECK(settled("CanonicalizeHostname yes", {"a", "", ""}).unread_keyword == "CanonicalizeHostname");
  const LoginSettings settings = settled("KnownHostsCommand /usr/bin/keys-of %H", {"a", "", ""});
  const auto refused = check_host_key({"ssh-ed25519", "AAAA"}, {}, settings);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message() ==
        "the host key is not known, and the built-in SSH client does not read KnownHostsCommand of the ssh config");
  CHECK(refused.error().hint() == kUseClient);
}

TEST_CASE("when a host that is this machine may be started without ssh", "[ssh]") {
  SshOptions port;
  port.port = 22;
  CHECK(settled("", {"a", "", ""}).local == LocalShortcut::WhenThisMachine);
  CHECK(settled("", {"a", "me", ""}).local == LocalShortcut::WhenThisMachine);
  CHECK(settled("Port 22", {"a", "", ""}).local == LocalShortcut::WhenThisMachine);
  CHECK(settled("", {"a", "you", ""}).local == LocalShortcut::No);
  CHECK(settled("Port 23", {"a", "", ""}).local == LocalShortcut::No);
  CHECK(settled("", {"a", "", "", 23}).local == LocalShortcut::No);
  CHECK(settled("Port 23", {"a", "", "", 22}).local == LocalShortcut::WhenThisMachine);
  CHECK(settled("", {"a", "", ""}, port).local == LocalShortcut::WhenThisMachine);
  CHECK(settled("ProxyCommand nc %h %p", {"a", "", ""}).local == LocalShortcut::No);
}

TEST_CASE("proxies", "[ssh]") {
  CHECK(settled("ProxyCommand nc %h %p", {"a", "", ""}).proxy ==
        std::vector<std::string>{"/bin/sh", "-c", "exec nc a 22"});
  CHECK(settled("ProxyCommand none", {"a", "", ""}).proxy.empty());
  CHECK(settled("ProxyJump none\nProxyCommand nc", {"a", "", ""}).proxy.empty());
  CHECK(settled("ProxyJump u@j1:7,j2", {"a", "", ""}).proxy ==
        std::vector<std::string>{"ssh", "-o", "BatchMode=yes", "-J", "u@j1:7", "-W", "[a]:22", "ssh://j2"});
}

TEST_CASE("nothing that a shell would act on gets into a proxy command", "[ssh]") {
  const auto bad = GENERATE("a;id", "$(id)", "a b", "-oProxyCommand=x", "`id`", "a\nb", "a'b", "a&b", "");
  CHECK_FALSE(settle_with("ProxyCommand nc %h %p", {bad, "", ""}).has_value());
  CHECK_FALSE(settle_with("ProxyCommand nc %r", {"a", std::string("x") + bad + ";", ""}).has_value());
  CHECK_FALSE(settle_with("ProxyJump j", {bad, "", ""}).has_value());
  CHECK_FALSE(settle_with(std::string("ProxyJump -") + bad, {"a", "", ""}).has_value());
}

TEST_CASE("keys and the agent", "[ssh]") {
  const auto plain = settled("", {"a", "", ""});
  CHECK(plain.agent_socket == "/agent");
  CHECK(plain.agent_turn == AgentTurn::First);
  CHECK(plain.identities.front() == "/nonexistent/me/.ssh/id_ed25519");
  CHECK(plain.identity_source == IdentitySource::Defaults);
  CHECK(settled("IdentitiesOnly yes", {"a", "", ""}).agent_turn == AgentTurn::Last);
  CHECK(settled("IdentityAgent none", {"a", "", ""}).agent_turn == AgentTurn::Never);
  CHECK(settled("IdentityAgent ~/s-%h", {"a", "", ""}).agent_socket == "/nonexistent/me/s-a");
  CHECK(settled("IdentityFile ~/k-%r-%h", {"a", "u", ""}).identities ==
        std::vector<std::string>{"/nonexistent/me/k-u-a"});
  CHECK(settled("PubkeyAuthentication no", {"a", "", ""}).key_login == KeyLogin::Forbidden);
}

TEST_CASE("a config file that was asked for must be there", "[ssh]") {
  SshOptions options;
  options.config_file = "/given";
  CHECK(settled("Port 9", {"a", "", ""}, options).port == 9);
  const auto nothing = [](const std::string&, FileTrust) -> sml::Result<std::optional<std::string>> {
    return std::nullopt;
  };
  const auto missing = settle(options, {"a", "", ""}, me(), {nothing, {}});
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().kind() == sml::ErrorKind::Config);
}

TEST_CASE("algorithms of the config", "[ssh]") {
  const auto plain = settled("", {"a", "", ""});
  CHECK(plain.host_key_order == HostKeyOrder::KnownFirst);
  CHECK(plain.session.host_key_algorithms.starts_with("ssh-ed25519,"));
  CHECK(plain.session.ciphers.find("chacha20") == std::string::npos);
  const auto more = settled("HostKeyAlgorithms +ssh-rsa\nCiphers +chacha20*", {"a", "", ""});
  CHECK(more.host_key_order == HostKeyOrder::KnownFirst);
  CHECK(more.session.host_key_algorithms == plain.session.host_key_algorithms + ",ssh-rsa");
  CHECK(more.session.ciphers == plain.session.ciphers + ",chacha20-poly1305@openssh.com");
  CHECK(settled("HostKeyAlgorithms ^ssh-rsa", {"a", "", ""}).host_key_order == HostKeyOrder::AsListed);
  CHECK(settled("PubkeyAcceptedKeyTypes -ssh-ed25519*,ecdsa*,sk-*", {"a", "", ""}).session.public_key_algorithms ==
        "rsa-sha2-512-cert-v01@openssh.com,rsa-sha2-256-cert-v01@openssh.com,rsa-sha2-512,rsa-sha2-256");
  CHECK_FALSE(settle_with("MACs umac-64@openssh.com", {"a", "", ""}).has_value());
}

TEST_CASE("a list of revoked keys", "[ssh]") {
  CHECK(settled("", {"a", "", ""}).revoked_host_keys.empty());
  CHECK(settled("RevokedHostKeys none", {"a", "", ""}).revoked_host_keys.empty());
  CHECK(settled("RevokedHostKeys ~/revoked", {"a", "", ""}).revoked_host_keys == "/nonexistent/me/revoked");
}

// Made by ssh-keygen: a key, and a certificate of it.
TEST_CASE("a certificate is that of one key", "[ssh]") {
  constexpr std::string_view kKey =
      "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBMJfU3Ntb95F85RS3mRnjk6vcgIUAZm0M8eIvKnNMWAdmA0s"
      "wy4xJbdgWsgfiXedFwjsSF3OprW63TN9xJjvXZo=";
  constexpr std::string_view kCertificate =
      "AAAAKGVjZHNhLXNoYTItbmlzdHAyNTYtY2VydC12MDFAb3BlbnNzaC5jb20AAAAghiwf82gdMbpQGqq8wfq6J8Tg0B9XLoN4r68b"
      "rDEHzqIAAAAIbmlzdHAyNTYAAABBBMJfU3Ntb95F85RS3mRnjk6vcgIUAZm0M8eIvKnNMWAdmA0swy4xJbdgWsgfiXedFwjsSF3O"
      "prW63TN9xJjvXZoAAAAAAAAAAAAAAAEAAAABbQAAAAUAAAABcgAAAAAAAAAA//////////8AAAAAAAAAAAAAAAAAAAAzAAAAC3Nz"
      "aC1lZDI1NTE5AAAAIAlSUr6aYjbXFTt4ERam+KDYP2RPmqZnXc6HyvhJ1sz+AAAAUwAAAAtzc2gtZWQyNTUxOQAAAEAfKmhwmNm6"
      "1o4Z+bruyNwUfBfN47CPDYDzlMIIquLQhimkH8XHXdIocHRyYYepvt/KqQotTF5wy2FnV5D3aSYI";
  constexpr std::string_view kOther = "AAAAC3NzaC1lZDI1NTE5AAAAIDfV3+rQlRQ6gjfvPGrY7GDPMv2XK6KykrrPTL29pXNA";
  CHECK(certifies(kCertificate, kKey));
  CHECK_FALSE(certifies(kCertificate, kOther));
  CHECK_FALSE(certifies(kKey, kKey));
  CHECK_FALSE(certifies("", ""));
  CHECK_FALSE(certifies("AAAA", "AAAA"));
  CHECK_FALSE(certifies(kCertificate, "AAAAB"));
  CHECK_FALSE(certifies(kCertificate.substr(0, 60), kKey));
  CHECK_FALSE(certifies(kCertificate, "no base64"));
  const std::string file = "ecdsa-sha2-nistp256-cert-v01@openssh.com " + std::string(kCertificate) + " me\n";
  CHECK(certificate_in(file).substr(4).starts_with("ecdsa-sha2-nistp256-cert-v01@openssh.com"));
  CHECK(certificate_in("ecdsa-sha2-nistp256 " + std::string(kKey)).empty());
  CHECK(certificate_in("").empty());
  CHECK(certificate_in("a-cert-v01").empty());
}
