#include "launcher/agent/core/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/os/boot.h"
#include "common/os/trust.h"

namespace sml::agent {

namespace {

constexpr int kDeepest = 200;         // nested folders
constexpr int kMostEntries = 10'000;  // of $TMPDIR, looked at for folders of the dead
constexpr int kTries = 5;
constexpr std::string_view kUnique = "XXXXXX";  // as mkdtemp(3) wants it

os::UniqueFd open_folder(int base, const char* path) {
  return os::UniqueFd(::openat(base, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// This user's, and not kept.
bool may_remove(const os::UniqueFd& folder) {
  struct stat info {};
  return folder && ::fstat(folder.get(), &info) == 0 && info.st_uid == ::geteuid() && (info.st_mode & S_ISVTX) == 0;
}

// Does not follow symbolic links. Closes `fd`.
void remove_contents(int fd, int deepest) {
  DIR* folder = fd < 0 ? nullptr : ::fdopendir(fd);
  if (folder == nullptr) return;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || ::unlinkat(fd, entry->d_name, 0) == 0 || deepest == 0) continue;
    remove_contents(::openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), deepest - 1);
    ::unlinkat(fd, entry->d_name, AT_REMOVEDIR);
  }
  ::closedir(folder);
}

// Where another user can rename folders, any folder of this user may have been given that name.
void remove_if_unused(const std::string& path) {
  if (!os::check_trust(path)) return;
  os::UniqueFd folder = open_folder(AT_FDCWD, path.c_str());
  if (!may_remove(folder) || ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) return;
  remove_contents(folder.release(), kDeepest);
  ::rmdir(path.c_str());
}

// Folders in `base` whose names begin with `prefix`.
void remove_unused(const std::string& base, std::string_view prefix) {
  DIR* const folder = ::opendir(base.c_str());
  if (folder == nullptr) return;
  for (int seen = 0; seen < kMostEntries; ++seen) {
    const dirent* const entry = ::readdir(folder);
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name.starts_with(prefix) && name.size() == prefix.size() + kUnique.size()) {
      remove_if_unused(base + "/" + entry->d_name);
    }
  }
  ::closedir(folder);
}

// Takes the lock of a new folder. False: another process took the folder for an unused one, and removes it. Where there
// are no locks, nobody can do so.
bool lock(const os::UniqueFd& folder) {
  if (::flock(folder.get(), LOCK_SH | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  struct stat info {};
  return ::fstat(folder.get(), &info) == 0 && info.st_nlink > 0;
}

std::string error_name(Rank rank) { return "error-" + std::to_string(rank.value()) + ".json"; }

// Whether the worker can have written it: a worker is this user.
bool is_of_worker(const os::UniqueFd& file) {
  struct stat info {};
  return file && ::fstat(file.get(), &info) == 0 && (info.st_uid == 0 || info.st_uid == ::geteuid());
}

}  // namespace

ScratchFolder ScratchFolder::make() {
  const char* base = std::getenv("TMPDIR");
  const std::string boot = os::boot_name();
  const std::string prefix = "sml-run-" + boot + "-";
  for (const std::string& candidate : {std::string(base != nullptr ? base : ""), std::string("/tmp")}) {
    if (candidate.empty()) continue;
    if (boot != os::kUnknownBoot) remove_unused(candidate, prefix);  // else they may be another machine's
    for (int i = 0; i < kTries; ++i) {
      std::string path = candidate + "/" + prefix + std::string(kUnique);
      if (::mkdtemp(path.data()) == nullptr) break;
      os::UniqueFd folder = open_folder(AT_FDCWD, path.c_str());
      const bool ours = folder && lock(folder);
      if (ours && os::check_trust(path)) return ScratchFolder(std::move(path), std::move(folder));
      ::rmdir(path.c_str());
      if (ours) break;
    }
  }
  return {};
}

// Removes the files that workers may have put there, too: all contents belong to the job.
ScratchFolder::~ScratchFolder() {
  if (path_.empty() || !may_remove(open_folder(AT_FDCWD, path_.c_str()))) return;
  clear();
  ::rmdir(path_.c_str());
}

void ScratchFolder::keep() const { ::fchmod(lock_.get(), S_IRWXU | S_ISVTX); }

// By the descriptor: $TMPDIR may be a folder in which another user can put a link in place of this one.
void ScratchFolder::clear() const {
  if (path_.empty()) return;
  remove_contents(open_folder(lock_.get(), ".").release(), kDeepest);
}

void remove_scratch_folder(const std::string& path) {
  const std::size_t name = path.rfind('/');
  if (name == std::string::npos || !std::string_view(path).substr(name).starts_with("/sml-run-")) return;
  os::UniqueFd folder = open_folder(AT_FDCWD, path.c_str());
  if (!may_remove(folder)) return;
  remove_contents(folder.release(), kDeepest);
  ::rmdir(path.c_str());
}

std::string ScratchFolder::error_file(Rank rank) const {
  return path_.empty() ? std::string() : path_ + "/" + error_name(rank);
}

std::string ScratchFolder::take_error_file(Rank rank, std::size_t limit) const {
  if (path_.empty()) return {};
  const std::string name = error_name(rank);
  const os::UniqueFd fd(::openat(lock_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!is_of_worker(fd)) return {};
  ::unlinkat(lock_.get(), name.c_str(), 0);
  std::string text(limit, '\0');
  std::size_t size = 0;
  while (size < limit) {
    const ssize_t n = ::read(fd.get(), text.data() + size, limit - size);
    if (n <= 0) break;
    size += static_cast<std::size_t>(n);
  }
  text.resize(size);
  return text;
}

}  // namespace sml::agent
