#include "launcher/run/watch/failure_file.h"

#include <cerrno>

#include <sys/stat.h>
#include <unistd.h>

#include "common/os/fd.h"
#include "common/os/own_file.h"

namespace sml {

namespace {

bool is_empty_file(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0;
}

}  // namespace

Result<void> leave_failure(const std::string& path, std::string_view text) {
  constexpr mode_t kReadable = 0644;
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  if (!folder.empty() && ::access(folder.c_str(), F_OK) != 0 && errno == ENOENT) return {};
  const Result<os::UniqueFd> fd = os::open_own_file(path, {.if_there = os::IfThere::Keep, .mode = kReadable});
  if (!fd) return fd.error();
  if (!is_empty_file(fd->get())) return {};
  if (!os::write_all(fd->get(), text)) return sys_error(ErrorKind::Io, "cannot write " + path, errno);
  return {};
}

Result<void> write_failure(const std::string& path, std::string_view text) {
  const Result<os::UniqueFd> fd = os::open_own_file(path, {.if_there = os::IfThere::Empty});
  if (!fd) return fd.error();
  if (!os::write_all(fd->get(), text)) return sys_error(ErrorKind::Io, "cannot write " + path, errno);
  return {};
}

}  // namespace sml
