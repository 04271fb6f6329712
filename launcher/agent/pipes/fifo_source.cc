#include "launcher/agent/pipes/fifo_source.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/core/text.h"

namespace sml::agent {

namespace {

constexpr int kSourcePipe = 1 << 20;

// Where everybody can write, another user can be the first to create the platform's FIFO, and feed the workers.
bool is_planted(int fifo, const std::string& path) {
  struct stat file {
  }, folder{};
  if (::fstat(fifo, &file) != 0 || ::stat(path.substr(0, path.rfind('/') + 1).c_str(), &folder) != 0) return true;
  const bool is_open = (folder.st_mode & S_IWOTH) != 0;
  return is_open && file.st_uid != 0 && file.st_uid != ::geteuid() && file.st_uid != folder.st_uid;
}

Error broken(const std::string& what, const std::string& path, int sys_errno) {
  return sys_error(ErrorKind::Io, what + " " + show(path), sys_errno);
}

}  // namespace

Result<FifoSource::Opened> FifoSource::open(std::uint32_t epoch) {
  path_ = base_ + std::to_string(epoch);
  fd_.reset(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (fd_ && is_planted(fd_.get(), path_)) {
    fd_.reset();
    return Error(ErrorKind::Io, "cannot open " + show(path_) + ": another user made it, where everybody can write");
  }
  if (fd_) {
    os::widen_pipe(fd_.get(), kSourcePipe);
    return Opened::Yes;
  }
  if (errno == ENOENT) return Opened::NotYet;
  return broken("cannot open", path_, errno);
}

Result<std::optional<std::size_t>> FifoSource::read(std::span<char> out) {
  const ssize_t n = ::read(fd_.get(), out.data(), out.size());
  if (n >= 0) return std::optional(static_cast<std::size_t>(n));
  if (errno == EAGAIN || errno == EINTR) return std::optional<std::size_t>();
  return broken("cannot read", path_, errno);
}

}  // namespace sml::agent
