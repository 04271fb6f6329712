#include "launcher/dialin/port.h"

#include <array>
#include <cerrno>
#include <string_view>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "launcher/ssh/tcp_connect.h"

namespace sml::dialin {

namespace {

constexpr int kBacklog = 1024;
constexpr int kSilentPeerMs = 30'000;

void set_option(int fd, int level, int name, int value) { ::setsockopt(fd, level, name, &value, sizeof value); }

template <class Address>
bool bind_to(int fd, const Address& address) {
  return ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// errno where it cannot be done.
Result<os::UniqueFd> make_listener(int family, std::uint16_t port) {
  os::UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const auto failed = [port] {
    return sys_error(ErrorKind::Io, "cannot listen on port " + std::to_string(port), errno)
        .with_hint("--head ADDR:PORT, the same on every host, names another port");
  };
  if (!fd) return failed();
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  bool bound = false;
  if (family == AF_INET6) {
    set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    any.sin6_port = htons(port);
    bound = bind_to(fd.get(), any);
  } else {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_port = htons(port);
    bound = bind_to(fd.get(), any);
  }
  if (!bound || ::listen(fd.get(), kBacklog) != 0) return failed();
  return fd;
}

std::string unmapped(const std::string& address) {
  constexpr std::string_view kMapped = "::ffff:";
  const bool mapped = address.starts_with(kMapped) && address.find('.') != std::string::npos;
  return mapped ? address.substr(kMapped.size()) : address;
}

}  // namespace

Result<os::UniqueFd> listen_on(std::uint16_t port) {
  Result<os::UniqueFd> both = make_listener(AF_INET6, port);
  if (both || errno == EADDRINUSE) return both;
  return make_listener(AF_INET, port);  // a machine without IPv6
}

os::UniqueFd accept_one(int listener) {
  os::UniqueFd fd(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd) return fd;
  set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd.get(), SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, kSilentPeerMs);
  return fd;
}

std::string near_address(int fd) { return unmapped(ssh::local_address(fd)); }
std::string far_address(int fd) { return unmapped(ssh::peer_address(fd)); }

Result<std::vector<std::string>> addresses_of(const std::string& name) {
  const Result<std::vector<ssh::Address>> found = ssh::resolve(name, 1, ssh::AddressFamily::Any);
  if (!found) return found.error();
  std::vector<std::string> out;
  for (const ssh::Address& address : *found) {
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(&address.any(), address.size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
      continue;
    out.push_back(unmapped(text.data()));
  }
  return out;
}

}  // namespace sml::dialin
