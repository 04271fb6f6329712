#include "launcher/ssh/local_identity.h"

#include <array>
#include <cstdlib>

#include <fcntl.h>
#include <glob.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/os/fd.h"

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

}  // namespace

LocalIdentity local_identity() {
  LocalIdentity self{.uid = ::geteuid(), .user = {}, .home = {}, .host_name = {}, .environment = environment_value};
  std::array<char, 16 * 1024> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(self.uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    self.user = found->pw_name;
    self.home = found->pw_dir;
  }
  if (self.user.empty()) self.user = std::to_string(self.uid);
  if (self.home.empty()) self.home = environment_value("HOME");
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) self.host_name = name.data();
  return self;
}

std::optional<std::string> read_small_file(const std::string& path) {
  const os::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  std::string text;
  std::array<char, 16 * 1024> piece{};
  while (text.size() < kMaxFile) {
    const auto n = ::read(fd.get(), piece.data(), piece.size());
    if (n < 0) return std::nullopt;
    if (n == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  return text;
}

ConfigFiles local_files() { return {.read = read_small_file, .glob = glob_paths}; }

bool only_owner_can_write(const std::string& path, uid_t uid) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return true;
  return (info.st_uid == 0 || info.st_uid == uid) && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool others_can_read(const std::string& path, uid_t uid) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return false;
  return info.st_uid == uid && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0;
}

}  // namespace sml::ssh
