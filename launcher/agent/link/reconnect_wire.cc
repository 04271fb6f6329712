#include "launcher/agent/link/reconnect_wire.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <sys/socket.h>
#include <unistd.h>

#include "common/wire/messages.h"

namespace sml::agent {

namespace {

constexpr std::size_t kEndsSize = sizeof(int) * 2;

struct Envelope {
  explicit Envelope(char* bytes, std::size_t size) : piece{bytes, size} {
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
  iovec piece;
  msghdr message{};
  alignas(cmsghdr) char control[CMSG_SPACE(kEndsSize)] = {};
};

}  // namespace

ReconnectAddress reconnect_address(const std::string& name) {
  ReconnectAddress out;
  out.address.sun_family = AF_UNIX;
  const std::size_t length = std::min(name.size(), sizeof out.address.sun_path - 1);
  name.copy(out.address.sun_path + 1, length);  // an abstract name begins with a NUL
  out.size = static_cast<unsigned int>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return out;
}

os::UniqueFd make_reconnect_socket() { return os::UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

pid_t peer_of_our_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  const bool known = ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  return known && peer.uid == ::geteuid() ? peer.pid : 0;
}

bool hand_over(int socket, std::string_view frame, std::array<int, 2> ends) {
  Envelope envelope(const_cast<char*>(frame.data()), frame.size());
  cmsghdr* header = CMSG_FIRSTHDR(&envelope.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(kEndsSize);
  std::memcpy(CMSG_DATA(header), ends.data(), kEndsSize);
  return ::sendmsg(socket, &envelope.message, MSG_NOSIGNAL) == static_cast<ssize_t>(frame.size());
}

std::optional<HandedOver> take_over(int socket) {
  HandedOver out;
  out.frame.resize(wire::kMaxReturn);
  Envelope envelope(out.frame.data(), out.frame.size());
  const ssize_t size = ::recvmsg(socket, &envelope.message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  out.frame.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  // There is room for two descriptors only; the kernel closes any others.
  const cmsghdr* header = CMSG_FIRSTHDR(&envelope.message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return std::nullopt;
  const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t i = 0; i < count && i < out.ends.size(); ++i) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
    out.ends[i].reset(fd);
  }
  if (size <= 0 || !out.ends[1]) return std::nullopt;
  return out;
}

}  // namespace sml::agent
