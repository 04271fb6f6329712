#include "launcher/transport/ssh/host_keys/known_hosts.h"

#include <array>
#include <cerrno>
#include <iterator>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/core/clock.h"
#include "common/core/text.h"
#include "common/os/fd.h"
#include "common/os/own_file.h"
#include "launcher/transport/ssh/host_keys/hashed_name.h"
#include "launcher/transport/ssh/local_identity.h"

namespace sml::ssh {
namespace {

constexpr auto kLockTimeout = std::chrono::seconds(2);

enum class WhenMissing : std::uint8_t { HasNothing, IsAnError };

Error unreadable(Error error) {
  return std::move(error).with_hint("a host key may be revoked there: mend the file, or name others in the ssh config");
}

Result<std::vector<KnownKey>> scan_file(KeyScan scan, const std::string& file, WhenMissing missing) {
  const os::UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd && missing == WhenMissing::HasNothing && (errno == ENOENT || errno == ENOTDIR)) return scan.finish();
  if (!fd) return unreadable(sys_error(ErrorKind::HostKey, "cannot read " + show(file), errno));
  if (!is_file_or_null(fd.get())) {
    return unreadable(Error(ErrorKind::HostKey, "cannot read " + show(file) + ": it is not a regular file"));
  }
  std::array<char, 64 * 1024> piece{};
  for (;;) {
    const auto n = ::read(fd.get(), piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return unreadable(sys_error(ErrorKind::HostKey, "cannot read " + show(file), errno));
    if (n == 0) return scan.finish();
    if (auto taken = scan.take({piece.data(), static_cast<std::size_t>(n)}); !taken) return taken.error();
  }
}

bool lock_in_time(int fd) {
  const TimePoint deadline = Clock::now() + kLockTimeout;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

bool ends_within_line(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return false;
  char last = '\n';
  return ::pread(fd, &last, 1, info.st_size - 1) == 1 && last != '\n';
}

}  // namespace

Result<std::vector<KnownKey>> known_keys(std::span<const std::string> files, const std::string& name) {
  std::vector<KnownKey> all;
  for (const std::string& file : files) {
    auto keys = scan_file({KeyFile::KnownHosts, file, name, hashed_name_matches}, file, WhenMissing::HasNothing);
    if (!keys) return keys.error();
    std::move(keys->begin(), keys->end(), std::back_inserter(all));
  }
  return all;
}

Result<std::vector<KnownKey>> revoked_keys(const std::string& file) {
  return scan_file({KeyFile::RevokedKeys, file, {}, hashed_name_matches}, file, WhenMissing::IsAnError);
}

Result<void> add_known_host(const std::string& file, const std::string& name, const HostKey& key) {
  const Result<os::UniqueFd> opened = os::open_own_file(file, {.if_there = os::IfThere::Keep,
                                                               .folders = os::Folders::AreMade,
                                                               .mode = 0600,
                                                               .folder_mode = 0700,
                                                               .last_link = os::LastLink::CountsAsOthers,
                                                               .access = os::Access::ReadAndWrite});
  if (!opened) return opened.error();
  const os::UniqueFd& fd = *opened;
  if (!lock_in_time(fd.get())) return Error(ErrorKind::Io, "cannot lock " + file);
  const auto known = known_keys(std::span(&file, 1), name);
  if (!known) return known.error();
  const auto verdict = compare(*known, key).verdict;
  if (verdict == KeyVerdict::Known) return {};
  if (verdict == KeyVerdict::Changed || verdict == KeyVerdict::Revoked) {
    return Error(ErrorKind::HostKey, "another key of the host was added to " + file + " meanwhile");
  }
  const std::string line = (ends_within_line(fd.get()) ? "\n" : "") + name + " " + key.type + " " + key.base64 + "\n";
  const auto n = ::write(fd.get(), line.data(), line.size());
  if (n != static_cast<ssize_t>(line.size()))
    return sys_error(ErrorKind::Io, "cannot write " + file, n < 0 ? errno : ENOSPC);
  return {};
}

}  // namespace sml::ssh
