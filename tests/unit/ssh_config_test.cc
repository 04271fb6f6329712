#include "launcher/transport/ssh/ssh_config.h"

#include <map>

#include "tests/support/catch.h"

using namespace sml::ssh;

namespace {

using Disk = std::map<std::string, std::string>;

ConfigFiles files_of(const Disk& disk) {
  const auto read = [&disk](const std::string& path, FileTrust) -> sml::Result<std::optional<std::string>> {
    const auto found = disk.find(path);
    return found == disk.end() ? std::nullopt : std::optional(found->second);
  };
  const auto glob = [&disk](const std::string& pattern) {
    std::vector<std::string> paths;
    for (const auto& [path, text] : disk) {
      if (matches_pattern(path, pattern)) paths.push_back(path);
    }
    return paths;
  };
  const auto run = [](const std::string& line) { return sml::Result<bool>(line.starts_with("true")); };
  return {read, glob, run};
}

SshConfig config_of(const Disk& disk, const std::string& host, const std::string& user = "") {
  SshConfig config({host, user, "me", "/home/me"}, files_of(disk));
  const auto taken = config.read_file("/config", ConfigRole::Users, "/home/me/.ssh");
  INFO((taken ? "" : taken.error().message()));
  REQUIRE(taken.has_value());
  return config;
}

std::string value_in(const std::string& text, const std::string& host, const std::string& keyword) {
  const Disk disk{{"/config", text}};
  return config_of(disk, host).value(keyword);
}

}  // namespace

TEST_CASE("the first value of a keyword wins", "[ssh]") {
  const std::string text = "Port 1\nHost a b*\n  Port 2\n  User x\nHost *\nUser y\n";
  CHECK(value_in(text, "a", "port") == "1");
  CHECK(value_in(text, "a", "user") == "x");
  CHECK(value_in(text, "bcd", "user") == "x");
  CHECK(value_in(text, "c", "user") == "y");
}

TEST_CASE("Host means the name that the user gave, whatever HostName says", "[ssh]") {
  const std::string text = "Host a\nHostName 10.0.0.1\nHost a b\nUser x\nHost 10.0.0.1\nPort 9\n";
  CHECK(value_in(text, "a", "user") == "x");
  CHECK(value_in(text, "a", "port").empty());
}

TEST_CASE("patterns", "[ssh]") {
  CHECK(value_in("Host * !b\nUser x\n", "a", "user") == "x");
  CHECK(value_in("Host * !b\nUser x\n", "b", "user").empty());
  CHECK(value_in("Host algo-?\nUser x\n", "ALGO-1", "user") == "x");
  CHECK(value_in("Host algo-?\nUser x\n", "algo-10", "user").empty());
  CHECK(matches_pattern("", "*"));
  CHECK(matches_pattern("abcabc", "*abc"));
  CHECK_FALSE(matches_pattern("abcabd", "*abc"));
  CHECK_FALSE(matches_pattern(std::string(2000, 'a'), "*a*a*a*a*a*a*a*a*b"));
}

TEST_CASE("Match", "[ssh]") {
  CHECK(value_in("Match host a,b\nUser x\n", "b", "user") == "x");
  CHECK(value_in("Match host a user me\nPort 7\n", "a", "port") == "7");
  CHECK(value_in("Match !host a\nPort 7\n", "a", "port").empty());
  CHECK(value_in("Match all\nPort 7\n", "a", "port") == "7");
  CHECK(value_in("Match localuser me\nPort 7\n", "a", "port") == "7");
  CHECK(value_in("HostName h\nMatch host h originalhost a\nPort 7\n", "a", "port") == "7");
}

TEST_CASE("Match exec runs the line where it can still matter", "[ssh]") {
  CHECK(value_in("Match exec \"true\" host a\nPort 7\n", "a", "port") == "7");
  CHECK(value_in("Match exec \"false\"\nPort 7\n", "a", "port").empty());
  CHECK(value_in("Match !exec false\nPort 7\n", "a", "port") == "7");
  CHECK(value_in("Match !exec true\nPort 7\n", "a", "port").empty());

  std::vector<std::string> lines;
  ConfigFiles files;
  std::string text;
  files.read = [&](const std::string&, FileTrust) -> sml::Result<std::optional<std::string>> { return text; };
  files.run = [&](const std::string& line) {
    lines.push_back(line);
    return sml::Result<bool>(true);
  };
  const auto read = [&](const std::string& config_text, const std::string& host) {
    text = config_text;
    SshConfig config({host, "", "me", "/home/me", "", {{'u', "me"}}}, files);
    return config.read_file("/config", ConfigRole::Users, "/x");
  };
  CHECK(read("HostName h\nPort 9\nUser u\nMatch host nope exec x\nMatch exec \"test %n-%h-%p-%r-%u-%%\"\n", "a")
            .has_value());
  CHECK(lines == std::vector<std::string>{"test a-h-9-u-me-%"});
  CHECK_FALSE(read("Match exec \"ping %h\"\n", "a;id").has_value());
  const auto unknown = read("Match exec \"test -e /run/%C\"\n", "a");
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().message() == "/config line 1: 'test -e /run/%C' in the ssh config has an unknown %-token");
  CHECK(unknown.error().hint().find("--ssh-command ssh") != std::string::npos);
  CHECK(lines.size() == 1);
}

TEST_CASE("a Match that is not known is told, not passed over", "[ssh]") {
  const Disk disk{{"/config", "Match localnetwork 10.0.0.0/8\nPort 7\n"}};
  SshConfig config({"a", "", "me", "/home/me"}, files_of(disk));
  const auto taken = config.read_file("/config", ConfigRole::Users, "/x");
  REQUIRE_FALSE(taken.has_value());
  CHECK(taken.error().message() == "/config line 1: Match localnetwork is not known to the built-in SSH client");
  CHECK(taken.error().hint().find("--ssh-command ssh") != std::string::npos);
}

TEST_CASE("forms of a line", "[ssh]") {
  CHECK(value_in("  port = 5  \r\n", "a", "port") == "5");
  CHECK(value_in("PORT=5", "a", "port") == "5");
  CHECK(value_in("# Port 4\nPort 5 # five\n", "a", "port") == "5");
  CHECK(value_in("User \"a b\"\n", "a", "user") == "a b");
  CHECK(value_in("ProxyCommand ssh -W \"%h:%p\" 'x y' # z\n", "a", "proxycommand") == "ssh -W \"%h:%p\" 'x y' # z");
}

TEST_CASE("Include reads files in place, within its block, and not for ever", "[ssh]") {
  const Disk disk{{"/config", "Host a\nInclude conf.d/*\nPort 3\n"},
                  {"/home/me/.ssh/conf.d/1", "User one\nHost z\nCiphers no\n"},
                  {"/home/me/.ssh/conf.d/2", "User two\nMACs yes\n"}};
  const auto config = config_of(disk, "a");
  CHECK(config.value("user") == "one");
  CHECK(config.value("macs") == "yes");
  CHECK(config.value("port") == "3");
  CHECK(config.value("ciphers").empty());
  CHECK(config_of(disk, "b").value("user").empty());

  const Disk loop{{"/config", "Include /config\n"}};
  SshConfig endless({"a", "", "me", "/home/me"}, files_of(loop));
  CHECK_FALSE(endless.read_file("/config", ConfigRole::Users, "/x").has_value());
}

TEST_CASE("errors name file and line; any bytes are survived", "[ssh]") {
  const Disk disk{{"/config", "Port 1\nUser \"x\n"}};
  SshConfig config({"a", "", "me", "/home/me"}, files_of(disk));
  const auto taken = config.read_file("/config", ConfigRole::Users, "/x");
  REQUIRE_FALSE(taken.has_value());
  CHECK(taken.error().kind() == sml::ErrorKind::Config);
  CHECK(taken.error().message() == "/config line 2: a quote is not closed");

  const Disk noise{{"/config", std::string("\0\xff=\n=\n\"\nHost\nMatch\n", 17) + std::string(100'000, '*')}};
  SshConfig other({"a", "", "me", "/home/me"}, files_of(noise));
  static_cast<void>(other.read_file("/config", ConfigRole::Users, "/x"));
}

TEST_CASE("CertificateFile accumulates", "[ssh]") {
  const Disk disk{{"/config", "CertificateFile a\nCertificateFile b\n"}};
  CHECK(config_of(disk, "h").certificate_files() == std::vector<std::string>{"a", "b"});
}

TEST_CASE("IdentityFile accumulates", "[ssh]") {
  const Disk disk{{"/config", "IdentityFile a\nHost x\nIdentityFile b\nHost *\nIdentityFile c\n"}};
  CHECK(config_of(disk, "h").identity_files() == std::vector<std::string>{"a", "c"});
}

TEST_CASE("tokens", "[ssh]") {
  CHECK(*expand_tokens("%h:%p%%", {{'h', "x"}, {'p', "22"}}) == "x:22%");
  CHECK_FALSE(expand_tokens("%q", {}).has_value());
  CHECK_FALSE(expand_tokens("100%", {}).has_value());
}

TEST_CASE("what is asked of a file depends on whose it is", "[ssh]") {
  std::map<std::string, FileTrust> asked;
  std::map<std::string, sml::Error> refused;
  const auto read = [&](const std::string& path, FileTrust trust) -> sml::Result<std::optional<std::string>> {
    asked[path] = trust;
    if (const auto found = refused.find(path); found != refused.end()) return found->second;
    return path == "/inc" ? std::optional<std::string>("User x\n") : std::optional<std::string>("Include /inc\n");
  };
  const auto config_in = [&](ConfigRole role) {
    SshConfig config({"a", "", "me", "/home/me"}, {read, [](const std::string& p) { return std::vector{p}; }});
    return config.read_file("/config", role, "/x");
  };
  CHECK(config_in(ConfigRole::Users).has_value());
  CHECK(asked["/config"] == FileTrust::OwnersOnly);
  CHECK(asked["/inc"] == FileTrust::OwnersOnly);
  for (const ConfigRole role : {ConfigRole::Named, ConfigRole::Systems}) {
    CHECK(config_in(role).has_value());
    CHECK(asked["/config"] == (role == ConfigRole::Named ? FileTrust::FoldersToo : FileTrust::Any));
    CHECK(asked["/inc"] == FileTrust::OwnersOnly);
  }
  // As ssh: what the user names or includes must be readable, its own two files need not.
  refused.emplace("/inc", sml::Error(sml::ErrorKind::Io, "cannot be read"));
  const auto error = config_in(ConfigRole::Systems).error();
  CHECK(error.kind() == sml::ErrorKind::Config);
  CHECK(error.message() == "/config line 1: cannot be read");
  refused = {{"/config", sml::Error(sml::ErrorKind::Io, "cannot be read")}};
  CHECK(config_in(ConfigRole::Users).has_value());
  CHECK(config_in(ConfigRole::Systems).has_value());
  CHECK(config_in(ConfigRole::Named).error().message() == "cannot be read");
  refused = {{"/config", sml::Error(sml::ErrorKind::Config, "others could have written it")}};
  CHECK_FALSE(config_in(ConfigRole::Users).has_value());
}
