#include "launcher/job/failure_file.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/os/fd.h"

namespace sml {

namespace {

bool is_empty_file(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0;
}

}  // namespace

Result<void> leave_failure(const std::string& path, std::string_view text) {
  constexpr mode_t kReadable = 0644;
  const os::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, kReadable));
  if (!fd && errno == ENOENT) return {};
  if (!fd) return sys_error(ErrorKind::Io, "cannot open " + path, errno);
  if (!is_empty_file(fd.get())) return {};
  if (!os::write_all(fd.get(), text)) return sys_error(ErrorKind::Io, "cannot write " + path, errno);
  return {};
}

}  // namespace sml
