#include "launcher/transport/net/tcp_connect.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include <netinet/tcp.h>
#include <poll.h>

#include "common/core/text.h"

namespace sml::net {
namespace {

void set_option(int fd, int level, int name, int value) { ::setsockopt(fd, level, name, &value, sizeof value); }

void tune(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  leave_silence_to_user(fd, Duration::zero());
}

Error connect_error(int sys_errno, Duration timeout) {
  if (sys_errno == ETIMEDOUT) {
    return Error(ErrorKind::Timeout, "no connection within " + format_duration(timeout))
        .with_hint("see whether the host is up and lets its ssh port be reached; --connect-timeout waits longer");
  }
  Error error(ErrorKind::Connect, errno_text(sys_errno));
  if (sys_errno != ECONNREFUSED) return error;
  return std::move(error).with_hint("see whether an ssh server runs there, and on this port");
}

// Returns the errno of the attempt; 0: connected.
int finish_connect(int fd, const names::Address& address, TimePoint deadline, const CancelToken& cancel) {
  if (::connect(fd, &address.any(), address.size) == 0) return 0;
  if (errno != EINPROGRESS && errno != EINTR) return errno;
  const Waited waited = wait_for(fd, POLLOUT, deadline, cancel);
  if (waited != Waited::Ready) return waited == Waited::Cancelled ? ECANCELED : ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace

void leave_silence_to_user(int fd, Duration limit) {
  constexpr Duration kAfterwards = std::chrono::seconds(5);
  const auto wanted = std::chrono::ceil<std::chrono::milliseconds>(std::max(kSilentPeer, limit + kAfterwards));
  constexpr std::chrono::milliseconds kMost(std::numeric_limits<int>::max());
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(std::min(wanted, kMost).count()));
}

Result<os::UniqueFd> connect_to(const std::vector<names::Address>& addresses, Duration timeout,
                                const CancelToken& cancel) {
  std::string tried;
  Error last(ErrorKind::Resolve, "host name has no address");
  for (const names::Address& address : addresses) {
    os::UniqueFd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!fd && (errno == EMFILE || errno == ENFILE)) return sys_error(ErrorKind::Io, "no socket", errno);
    if (fd) tune(fd.get());
    const int error = fd ? finish_connect(fd.get(), address, Clock::now() + timeout, cancel) : errno;
    if (error == 0) return fd;
    if (error == ECANCELED) return Error(ErrorKind::Internal, "cancelled");
    last = connect_error(error, timeout);
    tried += (tried.empty() ? "" : "; ") + names::numeric(address.any(), address.size) + ": " + last.message();
  }
  if (addresses.size() < 2) return last;
  return Error(last.kind(), tried).with_hint(last.hint());
}

std::string local_address(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return names::numeric(reinterpret_cast<const sockaddr&>(address), size);
}

std::string peer_address(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return names::numeric(reinterpret_cast<const sockaddr&>(address), size);
}

}  // namespace sml::net
