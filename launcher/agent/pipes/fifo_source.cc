#include "launcher/agent/pipes/fifo_source.h"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "common/core/text.h"

namespace sml::agent {

namespace {

constexpr int kSourcePipe = 1 << 20;

Error broken(const std::string& what, const std::string& path, int sys_errno) {
  return sys_error(ErrorKind::Io, what + " " + show(path), sys_errno);
}

}  // namespace

Result<FifoSource::Opened> FifoSource::open(std::uint32_t epoch) {
  path_ = base_ + std::to_string(epoch);
  fd_.reset(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
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
