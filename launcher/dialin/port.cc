#include "launcher/dialin/port.h"

#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "common/core/text.h"
#include "common/plan/machine/host.h"
#include "launcher/transport/names/accounts.h"
#include "launcher/transport/names/addresses.h"
#include "launcher/transport/net/tcp_connect.h"

namespace sml::dialin {

namespace {

constexpr int kBacklog = 1024;

void set_option(int fd, int level, int name, int value) { ::setsockopt(fd, level, name, &value, sizeof value); }

template <class Address>
bool bind_to(int fd, const Address& address) {
  return ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// Empty, with errno set, on failure.
os::UniqueFd make_listener(int family, std::uint16_t port) {
  os::UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
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
  if (bound && ::listen(fd.get(), kBacklog) == 0) return fd;
  const int why = errno;
  fd.reset();
  errno = why;
  return fd;
}

std::string user_name(uid_t user) {
  const std::optional<names::Account> account = names::account_of(user);
  return account ? show(account->name) + " (uid " + std::to_string(user) + ")" : std::to_string(user);
}

Error cannot_listen(std::uint16_t port, int why) {
  const std::optional<os::PortHolder> holder = why == EADDRINUSE ? os::holder_of_port(port) : std::nullopt;
  return Error(ErrorKind::Io, "cannot listen on port " + std::to_string(port) + ", where the other hosts call: " +
                                  errno_text(why) + (holder ? "; " + held_by(*holder) : ""))
      .with_hint("--head ADDR:PORT, the same on every host, names another port");
}

std::string unmapped(const std::string& address) {
  constexpr std::string_view kMapped = "::ffff:";
  const bool mapped = address.starts_with(kMapped) && address.find('.') != std::string::npos;
  return mapped ? address.substr(kMapped.size()) : address;
}

}  // namespace

std::string held_by(const os::PortHolder& holder) {
  const std::string process =
      holder.pid == 0 ? "a process" : "process " + std::to_string(holder.pid) + " (" + show(holder.program) + ")";
  return "it is held by " + process + " of user " + user_name(holder.user);
}

Result<std::optional<os::UniqueFd>> listen_unless_taken(std::uint16_t port) {
  os::UniqueFd fd = make_listener(AF_INET6, port);
  if (!fd && errno != EADDRINUSE) fd = make_listener(AF_INET, port);  // a machine without IPv6
  if (!fd && errno == EADDRINUSE) return std::optional<os::UniqueFd>();
  if (!fd) return cannot_listen(port, errno);
  return std::optional(std::move(fd));
}

Result<os::UniqueFd> listen_on(std::uint16_t port) {
  Result<std::optional<os::UniqueFd>> listener = listen_unless_taken(port);
  if (!listener) return listener.error();
  if (!*listener) return cannot_listen(port, EADDRINUSE);
  return std::move(**listener);
}

void set_up_accepted(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  net::leave_silence_to_user(fd, Duration::zero());
}

std::uint16_t own_port(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::string near_address(int fd) { return unmapped(net::local_address(fd)); }
std::string far_address(int fd) { return unmapped(net::peer_address(fd)); }

Result<std::vector<std::string>> addresses_of(const std::string& name) {
  const Result<std::vector<names::Address>> found = names::addresses_of(name, 1, AF_UNSPEC);
  if (!found) return found.error();
  std::vector<std::string> out;
  for (const names::Address& address : *found) out.push_back(unmapped(names::numeric(address.any(), address.size)));
  return out;
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> out;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return out;
  for (const ifaddrs* one = all; one != nullptr && out.size() < kMostAddresses; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_LOOPBACK) != 0 || (one->ifa_flags & IFF_UP) == 0) continue;
    const bool v4 = one->ifa_addr->sa_family == AF_INET;
    if (!v4 && one->ifa_addr->sa_family != AF_INET6) continue;
    std::string text = names::numeric(*one->ifa_addr, v4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    if (plan::valid_host_name(text) && !text.starts_with("fe80")) out.push_back(std::move(text));
  }
  ::freeifaddrs(all);
  return out;
}

}  // namespace sml::dialin
