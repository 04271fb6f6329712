#include "launcher/os/leash.h"

#include <array>
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

Result<Leash> Leash::make() {
  Result<std::array<UniqueFd, 2>> ends = make_socketpair();
  if (!ends) return ends.error();
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
