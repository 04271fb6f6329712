#include "launcher/os/leash.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>

namespace sml::os {

namespace {

void signal_by_kernel(int fd, int flag) {
  const int flags = ::fcntl(fd, F_GETFL);
  ::fcntl(fd, F_SETFL, (flags & ~O_ASYNC) | flag);
}

}  // namespace

// Input that is there before tie() causes no event that would kill.
Result<Leash> Leash::make(std::string_view input) {
  Result<std::array<UniqueFd, 2>> ends = make_socketpair();
  if (!ends) return ends.error();
  if (!input.empty()) {
    const ssize_t n = ::send((*ends)[0].get(), input.data(), input.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n != static_cast<ssize_t>(input.size())) {
      return sys_error(ErrorKind::Io, "cannot pass the input", n < 0 ? errno : ENOBUFS);
    }
  }
  ::shutdown((*ends)[0].get(), SHUT_WR);
  return Leash(std::move((*ends)[0]), std::move((*ends)[1]));
}

void Leash::tie(pid_t group) const {
  ::fcntl(theirs_.get(), F_SETOWN, -group);
  ::fcntl(theirs_.get(), F_SETSIG, SIGKILL);
  signal_by_kernel(theirs_.get(), O_ASYNC);
}

void Leash::untie() const { signal_by_kernel(theirs_.get(), 0); }

}  // namespace sml::os
