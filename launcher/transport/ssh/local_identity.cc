#include "launcher/transport/ssh/local_identity.h"

#include <array>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/fd.h"
#include "common/os/trust.h"
#include "launcher/transport/names/accounts.h"

namespace sml::ssh {
namespace {

constexpr std::size_t kMaxFile = 4 * 1024 * 1024;

std::string environment_value(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : std::string(value);
}

std::vector<std::string> glob_paths(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return paths;
}

// As ssh requires: the file belongs to this user or root, and no one else can write to it.
Result<void> check_owner(const struct stat& info, const std::string& path) {
  if (info.st_uid != 0 && info.st_uid != ::geteuid()) {
    return Error(ErrorKind::Config, show(path) + " belongs to another user (uid " + std::to_string(info.st_uid) +
                                        "), who could have any program run from there")
        .with_hint("ssh configurations are to be yours or root's: chown " + std::to_string(::geteuid()) + " " +
                   shell_quote(path));
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Error(ErrorKind::Config, "others could have written " + show(path))
        .with_hint("chmod go-w " + shell_quote(path));
  }
  return {};
}

Result<std::optional<std::string>> read_config_file(const std::string& path, FileTrust trust) {
  const os::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd && (errno == ENOENT || errno == ENOTDIR)) return std::optional<std::string>();
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    return sys_error(ErrorKind::Io, "the ssh config " + show(path) + " cannot be read", errno);
  }
  if (trust == FileTrust::OwnersOnly && S_ISREG(info.st_mode)) {
    if (auto trusted = check_owner(info, path); !trusted) return trusted.error();
  }
  if (trust == FileTrust::FoldersToo && S_ISREG(info.st_mode)) {
    if (auto trusted = os::check_trust(path); !trusted) {
      return Error(ErrorKind::Config, show(path) + " is not obeyed, as " + trusted.error().message())
          .with_hint("name one that is yours or root's, in folders that nobody else can write");
    }
  }
  if (S_ISDIR(info.st_mode)) return std::optional<std::string>();
  if (!is_file_or_null(fd.get())) {
    return Error(ErrorKind::Config, "the ssh config " + show(path) + " cannot be read: it is not a regular file");
  }
  std::string text;
  std::array<char, 16 * 1024> piece{};
  for (;;) {
    const auto n = ::read(fd.get(), piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return sys_error(ErrorKind::Io, "the ssh config " + show(path) + " cannot be read", errno);
    if (n == 0) return std::optional(std::move(text));
    text.append(piece.data(), static_cast<std::size_t>(n));
    if (text.size() > kMaxFile)
      return Error(ErrorKind::Config, "the ssh config " + show(path) + " has more than 4 MiB");
  }
}

// For an image without a passwd file, or whose passwd file lacks the user.
std::string unlisted_user(uid_t uid) {
  for (const char* variable : {"LOGNAME", "USER"}) {
    if (std::string name = environment_value(variable); !name.empty()) return name;
  }
  return uid == 0 ? "root" : std::to_string(uid);
}

}  // namespace

LocalIdentity local_identity() {
  LocalIdentity self{.uid = ::geteuid(), .user = {}, .home = {}, .host_name = {}, .environment = environment_value};
  const std::optional<names::Account> local = names::local_account(self.uid);
  self.home = local && !local->home.empty() ? local->home : environment_value("HOME");
  const std::optional<names::Account> account = local ? local : names::account_of(self.uid);
  self.user = account ? account->name : unlisted_user(self.uid);
  if (self.home.empty() && account) self.home = account->home;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) self.host_name = name.data();
  return self;
}

bool is_file_or_null(int fd) {
  struct stat info {
  }, null{};
  if (::fstat(fd, &info) != 0) return false;
  if (S_ISREG(info.st_mode)) return true;
  return S_ISCHR(info.st_mode) && ::stat("/dev/null", &null) == 0 && info.st_rdev == null.st_rdev;
}

ConfigFiles local_files() { return {.read = read_config_file, .glob = glob_paths}; }

bool others_can_read(const std::string& path, uid_t uid) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return false;
  return info.st_uid == uid && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0;
}

}  // namespace sml::ssh
