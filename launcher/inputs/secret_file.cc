#include "launcher/inputs/secret_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/core/input_error.h"
#include "common/core/text.h"
#include "common/os/fd.h"
#include "common/os/own_file.h"
#include "common/os/random.h"
#include "launcher/inputs/read_to_end.h"

namespace sml {

namespace {

constexpr mode_t kOthersRead = 0044;
constexpr mode_t kOthersWrite = 0022;
constexpr mode_t kPermissions = 07777;
constexpr Duration kLookAgain = std::chrono::milliseconds(200);

bool is_mounted_secret(int fd) {
  struct statfs system {};
  struct statvfs mount {};
  return ::fstatfs(fd, &system) == 0 && system.f_type == TMPFS_MAGIC && ::fstatvfs(fd, &mount) == 0 &&
         (mount.f_flag & ST_RDONLY) != 0;
}

Result<std::string> random_text() {
  const std::string text = os::random_hex(32);
  if (text.empty()) return config_error("the system gives no random bytes");
  return text + "\n";
}

enum class MadeSecret : std::uint8_t { Now, Before };

// The secret gets its name when it is whole: others may be waiting for it.
Result<MadeSecret> make_unless_there(const std::string& path) {
  const Result<std::string> text = random_text();
  if (!text) return text.error();
  const Result<os::Place> place = os::find_place(path, os::Folders::AreMade, 0700);
  if (!place) return config_error(place.error().message());
  const int folder = place->folder.get();
  const std::string unfinished = place->name + "." + os::random_hex(8);
  const os::UniqueFd file(
      ::openat(folder, unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return sys_error(ErrorKind::Config, show(path), errno);
  const bool written = ::fchmod(file.get(), 0600) == 0 && os::write_all(file.get(), *text) && ::fsync(file.get()) == 0;
  const bool named = written && ::linkat(folder, unfinished.c_str(), folder, place->name.c_str(), 0) == 0;
  const int why = errno;
  ::unlinkat(folder, unfinished.c_str(), 0);
  if (named) return MadeSecret::Now;
  if (written && why == EEXIST) return MadeSecret::Before;
  return sys_error(ErrorKind::Config, show(path), why);
}

}  // namespace

std::optional<Error> refuse_secret_file(const SecretFileFacts& facts, SecretKind kind, uid_t self) {
  const bool named = kind == SecretKind::Named;
  const auto mode = facts.mode & kPermissions;
  if (!S_ISREG(facts.mode) && !(named && S_ISFIFO(facts.mode))) return config_error("is no file");
  if (facts.owner != self && !(named && facts.owner == 0)) {
    return config_error("belongs to user {}, who can read and change it", facts.owner);
  }
  const bool readable = (mode & kOthersRead) != 0 && !(named && facts.is_mounted_secret);
  if ((mode & kOthersWrite) == 0 && !readable) return std::nullopt;
  return config_error("others can {} it (mode {:04o}), and who knows the secret can act as a host of the job",
                      (mode & kOthersWrite) != 0 ? "write to" : "read", mode)
      .with_hint("chmod 600 closes it; then make another secret if somebody may have read this one");
}

Result<std::string> read_secret_file(const std::string& path, SecretKind kind) {
  const int follow = kind == SecretKind::Default ? O_NOFOLLOW : 0;
  const os::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | follow));
  if (!file) return config_error(errno == ELOOP && follow != 0 ? "is a link" : errno_text(errno));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return config_error(errno_text(errno));
  const SecretFileFacts facts{status.st_mode, status.st_uid, is_mounted_secret(file.get())};
  if (std::optional<Error> refused = refuse_secret_file(facts, kind, ::geteuid())) return std::move(*refused);
  Result<std::string> text = read_to_end(file.get(), kMostSecret);
  if (!text) return text;
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  return text;
}

std::string default_secret_file(const std::string& config_folder) { return config_folder + "/sml-run/secret"; }

Result<void> make_secret_file(const std::string& path) {
  const Result<MadeSecret> made = make_unless_there(path);
  if (!made) return made.error();
  if (*made == MadeSecret::Now) return {};
  return config_error(show(path) + " is there already")
      .with_hint("hosts that have it would be shut out: remove it first");
}

Result<void> share_secret_file(const std::string& path, SecretMaker maker, Duration timeout) {
  if (maker == SecretMaker::ThisHost) {
    const Result<MadeSecret> made = make_unless_there(path);
    return made ? Result<void>() : made.error();
  }
  const std::string folder = path.substr(0, path.rfind('/'));
  const TimePoint end = Clock::now() + timeout;
  while (true) {
    if (::access(path.c_str(), F_OK) == 0) return {};
    if (Clock::now() >= end) break;
    std::this_thread::sleep_for(kLookAgain);
    // A client of NFS remembers for a while that a file is not there; reading the folder makes it ask.
    if (DIR* entries = ::opendir(folder.c_str()); entries != nullptr) {
      while (::readdir(entries) != nullptr) continue;
      ::closedir(entries);
    }
  }
  return Error(
      ErrorKind::Timeout,
      fmt::format("the hosts of this job share no secret, by which they know each other: {}, which the first of "
                  "them makes where they share a home, has not appeared here in {}",
                  show(path), format_duration(timeout)));
}

void forget_variable(char* const* environment, const std::string& name) {
  const std::string start = name + "=";
  for (char* const* entry = environment; *entry != nullptr; ++entry) {
    if (std::string_view(*entry).starts_with(start))
      ::explicit_bzero(*entry + start.size(), ::strlen(*entry) - start.size());
  }
  ::unsetenv(name.c_str());
}

}  // namespace sml
