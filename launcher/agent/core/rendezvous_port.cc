#include "launcher/agent/core/rendezvous_port.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/filter.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/text.h"

namespace sml::agent {

namespace {

constexpr int kListenBacklog = 65535;  // all ranks connect at once; the kernel lowers this to its own limit

// Returns a TCP socket bound to `port` (0: any) on all addresses; IPv6 with IPv4 where the host has IPv6.
Result<os::UniqueFd> bind_any(int family, std::uint16_t port) {
  os::UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return sys_error(ErrorKind::Io, "cannot make a socket", errno);
  const int on = 1;
  const int off = 0;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_in);
  if (family == AF_INET6) {
    ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    auto* address = reinterpret_cast<sockaddr_in6*>(&storage);
    address->sin6_family = AF_INET6;
    address->sin6_port = htons(port);
    size = sizeof *address;
  } else {
    auto* address = reinterpret_cast<sockaddr_in*>(&storage);
    address->sin_family = AF_INET;
    address->sin_port = htons(port);
  }
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&storage), size) != 0) {
    return sys_error(ErrorKind::Io, "cannot bind a port", errno);
  }
  return fd;
}

// Accepts connections from this host only. The loopback device carries what this host sends to any address of its own;
// the filter drops connection attempts over other devices without an answer. (SO_BINDTODEVICE would only work for
// 127.0.0.1.) Without the filter the store still closes foreign connections.
void hear_this_machine_alone(int fd) {
  constexpr std::uint32_t kLoopbackIndex = 1;  // in every network namespace
  constexpr std::uint32_t kAll = 0xffffffff;
  std::array<sock_filter, 4> code{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_IFINDEX)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kLoopbackIndex, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, kAll),
      BPF_STMT(BPF_RET | BPF_K, 0),
  }};
  const sock_fprog filter{static_cast<unsigned short>(code.size()), code.data()};
  ::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

std::uint16_t port_of(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return 0;
  return ntohs(storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&storage)->sin_port);
}

std::string numeric(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address->sa_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof text);
  } else if (address->sa_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
    if (!IN6_IS_ADDR_LINKLOCAL(&v6)) ::inet_ntop(AF_INET6, &v6, text, sizeof text);
  }
  return text;
}

// Whether it is an IPv4 link-local address (RFC 3927). Other hosts may have the same one, as containers of ECS do.
bool is_link_local(const std::string& address) { return address.starts_with("169.254."); }

// Reads SSH_CONNECTION: "client-address client-port server-address server-port" (sshd(8)).
std::string address_of_login() {
  const char* value = std::getenv("SSH_CONNECTION");
  if (value == nullptr) return {};
  std::string_view text = value;
  for (int word = 0; word < 2; ++word) take_until(text, ' ');
  return std::string(take_until(text, ' '));
}

struct Probing {
  explicit Probing(boost::asio::io_context& loop) : timer(loop) {}
  std::vector<boost::asio::ip::tcp::socket> sockets;
  std::vector<wire::ProbeResult> results;
  std::size_t open = 0;
  boost::asio::steady_timer timer;
  std::function<void(std::vector<wire::ProbeResult>)> answer;

  void decide(std::size_t i, int sys_errno) {
    results[i].sys_errno = sys_errno;
    boost::system::error_code ignored;
    sockets[i].close(ignored);
    if (--open == 0) timer.cancel();
  }
};

}  // namespace

Result<RendezvousPort> RendezvousPort::reserve(wire::ServiceReach reach) {
  int family = AF_INET6;
  Result<os::UniqueFd> holder = bind_any(family, 0);
  if (!holder) holder = bind_any(family = AF_INET, 0);
  if (!holder) return holder.error();
  const std::uint16_t port = port_of(holder->get());
  Result<os::UniqueFd> listener = bind_any(family, port);
  if (!listener) return listener.error();
  if (reach == wire::ServiceReach::ThisMachine) hear_this_machine_alone(listener->get());
  if (::listen(listener->get(), kListenBacklog) != 0) return sys_error(ErrorKind::Io, "cannot listen on a port", errno);
  return RendezvousPort(port, std::move(*holder), std::move(*listener));
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> out;
  const auto add = [&out](std::string address) {
    if (!address.empty() && std::find(out.begin(), out.end(), address) == out.end()) out.push_back(std::move(address));
  };
  add(address_of_login());
  const auto interfaces = static_cast<std::ptrdiff_t>(out.size());
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return out;
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
      if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != family) continue;
      if ((i->ifa_flags & IFF_UP) != 0 && (i->ifa_flags & IFF_LOOPBACK) == 0) add(numeric(i->ifa_addr));
    }
  }
  ::freeifaddrs(list);
  const auto far_reaching = [](const std::string& address) { return !is_link_local(address); };
  std::stable_partition(out.begin() + interfaces, out.end(), far_reaching);
  return out;
}

void probe_addresses(boost::asio::io_context& loop, const std::vector<std::string>& addresses, std::uint16_t port,
                     Duration timeout, std::function<void(std::vector<wire::ProbeResult>)> answer) {
  auto probing = std::make_shared<Probing>(loop);
  probing->answer = std::move(answer);
  for (const std::string& address : addresses) probing->results.push_back({address, ETIMEDOUT});
  probing->open = addresses.size();
  probing->timer.expires_after(addresses.empty() ? Duration::zero() : timeout);
  probing->timer.async_wait([probing](boost::system::error_code) {
    for (auto& socket : probing->sockets) {
      boost::system::error_code ignored;
      socket.close(ignored);
    }
    probing->answer(std::move(probing->results));
  });
  for (std::size_t i = 0; i < addresses.size(); ++i) probing->sockets.emplace_back(loop);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    boost::system::error_code error;
    const auto address = boost::asio::ip::make_address(addresses[i], error);
    if (error) {
      probing->decide(i, EINVAL);
      continue;
    }
    probing->sockets[i].async_connect({address, port}, [probing, i](boost::system::error_code failed) {
      if (failed != boost::asio::error::operation_aborted) probing->decide(i, failed.value());
    });
  }
}

}  // namespace sml::agent
