#include "launcher/run/watch/progress_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "common/os/fd.h"

namespace sml::run {

// Opens the file, since NFS queries the server on open, and otherwise returns cached attributes.
ProgressFile::Stamp ProgressFile::look() const {
  struct stat status {};
  const os::UniqueFd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  const bool there = (file ? ::fstat(file.get(), &status) : ::stat(path_.c_str(), &status)) == 0;
  if (!there) return {};
  constexpr std::int64_t kSecond = 1'000'000'000;
  return {status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec, status.st_ino, status.st_size};
}

bool ProgressFile::has_changed() {
  const Stamp now = look();
  if (now == before_ || now == Stamp()) return false;
  before_ = now;
  return true;
}

}  // namespace sml::run
