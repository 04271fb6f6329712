#include "common/os/fd.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

namespace sml::os {

Result<Pipe> make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return sys_error(ErrorKind::Io, "cannot make a pipe", errno);
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

void widen_pipe(int fd, int size) {
  const int now = ::fcntl(fd, F_GETPIPE_SZ);
  if (now > 0 && now < size) ::fcntl(fd, F_SETPIPE_SZ, size);
}

Result<std::array<UniqueFd, 2>> make_socketpair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
    return sys_error(ErrorKind::Io, "cannot make a socket pair", errno);
  }
  return std::array<UniqueFd, 2>{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

Result<UniqueFd> open_dev_null() {
  UniqueFd fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!fd) return sys_error(ErrorKind::Io, "cannot open /dev/null", errno);
  return fd;
}

Result<UniqueFd> open_empty_input() {
  if (Result<UniqueFd> null = open_dev_null()) return null;
  Result<Pipe> pipe = make_pipe();
  if (!pipe) return pipe.error();
  return std::move(pipe->read);
}

void ensure_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    ::open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);  // the lowest free number is this one; stays open over exec
  }
}

void close_from(int first) {
  if (::syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, 0U) == 0) return;
  const int end = static_cast<int>(std::min(descriptor_limit(), 65536UL));
  for (int fd = first; fd < end; ++fd) ::close(fd);
}

void set_nonblocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags >= 0) ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

Result<UniqueFd> make_watch(int fd, std::uint32_t events) {
  UniqueFd watch(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{};
  event.events = events;
  if (!watch || ::epoll_ctl(watch.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return sys_error(ErrorKind::Io, "cannot wait for a descriptor", errno);
  }
  return watch;
}

unsigned long raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return before;
}

unsigned long descriptor_limit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      pollfd p{.fd = fd, .events = POLLOUT, .revents = 0};
      ::poll(&p, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace sml::os
