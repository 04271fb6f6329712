#include "common/os/small_file.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/os/own_file.h"

namespace sml::os {

std::string read_small_file(const std::string& path) {
  std::string text;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return text;
  char buffer[4096];
  for (ssize_t n = ::read(fd.get(), buffer, sizeof buffer); n > 0; n = ::read(fd.get(), buffer, sizeof buffer)) {
    text.append(buffer, static_cast<std::size_t>(n));
  }
  return text;
}

Result<void> write_file(const std::string& path, std::string_view text) {
  const Result<UniqueFd> fd = open_own_file(path, {.reader = Reader::IsWaitedFor, .mode = 0600});
  if (!fd) return fd.error();
  if (!write_all(fd->get(), text)) return sys_error(ErrorKind::Io, "cannot write " + path, errno);
  return {};
}

Result<void> check_output(const std::string& path) {
  if (path.empty()) return {};
  const auto refused = [&path](int why) { return sys_error(ErrorKind::Io, "cannot open " + path, why); };
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return refused(EISDIR);
    return ::access(path.c_str(), W_OK) == 0 ? Result<void>() : refused(errno);
  }
  if (errno != ENOENT) return refused(errno);
  const std::string folder = path.find('/') == std::string::npos ? "." : path.substr(0, path.rfind('/') + 1);
  if (::stat(folder.c_str(), &info) != 0 || ::access(folder.c_str(), W_OK | X_OK) != 0) return refused(errno);
  return {};
}

}  // namespace sml::os
