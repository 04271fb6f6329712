// Any ssh configuration, with two files that it can include: it is refused with one line, or what is settled from it
// can be used as it is: a proxy is a program of ours with words that no shell takes for more than they are.
#include <cstdint>

#include "launcher/transport/ssh/login_settings.h"
#include "tests/fuzz/require.h"

using namespace sml;
using namespace sml::ssh;
using sml::fuzz::require;

namespace {

constexpr std::string_view kNext = "\n===\n";  // between files

std::string_view cut(std::string_view& text) {
  const auto end = std::min(text.find(kNext), text.size());
  const std::string_view file = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + kNext.size()));
  return file;
}

void check_proxy(const LoginSettings& settings) {
  if (settings.proxy.empty()) return;
  require(settings.local == LocalShortcut::No);
  if (settings.proxy.front() == "ssh") {
    require(settings.proxy.back().starts_with("ssh://") && is_plain_word(settings.host));
  } else {
    require(settings.proxy.size() == 3 && settings.proxy[2].starts_with("exec "));
    require(is_plain_word(settings.host) && is_plain_word(settings.session.user));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::map<std::string, std::string_view> files{
      {"/home/me/.ssh/config", cut(rest)}, {"/home/me/.ssh/more", cut(rest)}, {"/etc/ssh/ssh_config", cut(rest)}};
  const auto read = [&](const std::string& path, FileTrust) -> Result<std::optional<std::string>> {
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(std::string(found->second));
  };
  int left = 64;  // a file that includes itself thrice, 16 deep, is 43 million files
  const auto glob = [&](const std::string& pattern) {
    return left-- > 0 && pattern.ends_with("more") ? std::vector<std::string>{"/home/me/.ssh/more"}
                                                   : std::vector<std::string>();
  };
  const auto run = [](const std::string& line) { return Result<bool>(line.size() % 2 == 0); };
  const LocalIdentity self{.uid = 1000,
                           .user = "me",
                           .home = "/home/me",
                           .host_name = "here.example",
                           .environment = [](const std::string&) { return std::string("value"); }};
  const auto settings = settle({}, {"h-1", "", ""}, self, {read, glob, run});
  if (!settings) {
    require(settings.error().kind() == ErrorKind::Config);
    require(settings.error().message().find('\n') == std::string::npos && settings.error().message().size() < 4000);
    return 0;
  }
  require(!settings->host.empty() && settings->port != 0 && !settings->session.user.empty());
  require(settings->connect_timeout >= Duration::zero());
  check_proxy(*settings);
  return 0;
}
