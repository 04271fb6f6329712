#include "launcher/agent/core/scratch_folder.h"

#include <cstdlib>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/os/fd.h"

namespace sml::agent {

namespace {

constexpr int kDeepest = 200;  // nested folders

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

}  // namespace

std::string ScratchFolder::make_folder() {
  const char* base = std::getenv("TMPDIR");
  for (const std::string& candidate : {std::string(base != nullptr ? base : ""), std::string("/tmp")}) {
    if (candidate.empty()) continue;
    std::string name = candidate + "/sml-run-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) continue;
    return name;
  }
  return {};
}

// Removes the files that workers may have put there, too: all contents belong to the job.
ScratchFolder::~ScratchFolder() {
  clear();
  if (!path_.empty()) ::rmdir(path_.c_str());
}

void ScratchFolder::clear() const {
  if (path_.empty()) return;
  remove_contents(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), kDeepest);
}

void remove_scratch_folder(const std::string& path) {
  const std::size_t name = path.rfind('/');
  if (name == std::string::npos || !std::string_view(path).substr(name).starts_with("/sml-run-")) return;
  os::UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!folder || ::fstat(folder.get(), &info) != 0 || info.st_uid != ::geteuid()) return;
  remove_contents(folder.release(), kDeepest);
  ::rmdir(path.c_str());
}

std::string ScratchFolder::error_file(Rank rank) const {
  return path_.empty() ? std::string() : path_ + "/error-" + std::to_string(rank.value()) + ".json";
}

std::string ScratchFolder::take_error_file(Rank rank, std::size_t limit) const {
  const std::string file = error_file(rank);
  if (file.empty()) return {};
  const os::UniqueFd fd(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return {};
  ::unlink(file.c_str());
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
