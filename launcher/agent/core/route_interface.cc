#include "launcher/agent/core/route_interface.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/ip/address.hpp>

#include "common/os/fd.h"

namespace sml::agent {

namespace {

using Address = boost::asio::ip::address;

Address address_in(const sockaddr* from) {
  if (from->sa_family == AF_INET) {
    return boost::asio::ip::address_v4(ntohl(reinterpret_cast<const sockaddr_in*>(from)->sin_addr.s_addr));
  }
  boost::asio::ip::address_v6::bytes_type bytes;
  const auto& v6 = reinterpret_cast<const sockaddr_in6*>(from)->sin6_addr.s6_addr;
  std::copy(std::begin(v6), std::end(v6), bytes.begin());
  return boost::asio::ip::address_v6(bytes);
}

std::string interface_with(const Address& wanted) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
    const bool usable = i->ifa_addr != nullptr && (i->ifa_flags & IFF_UP) != 0 && (i->ifa_flags & IFF_LOOPBACK) == 0;
    if (!usable || (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6)) continue;
    if (address_in(i->ifa_addr) == wanted) return i->ifa_name;
  }
  return {};
}

// The address from which a datagram to `address` would be sent.
Address source_towards(const Address& address) {
  constexpr std::uint16_t kDiscard = 9;
  const int family = address.is_v4() ? AF_INET : AF_INET6;
  const os::UniqueFd fd(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_in);
  if (address.is_v4()) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(kDiscard);
    v4->sin_addr.s_addr = htonl(address.to_v4().to_uint());
  } else {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
    size = sizeof *v6;
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(kDiscard);
    const auto bytes = address.to_v6().to_bytes();
    std::copy(bytes.begin(), bytes.end(), std::begin(v6->sin6_addr.s6_addr));
  }
  if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&storage), size) != 0) return {};
  size = sizeof storage;
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  return address_in(reinterpret_cast<const sockaddr*>(&storage));
}

}  // namespace

std::string interface_towards(const std::string& text) {
  boost::system::error_code error;
  const Address address = boost::asio::ip::make_address(text, error);
  if (error || address.is_loopback()) return {};
  if (std::string own = interface_with(address); !own.empty()) return own;
  return interface_with(source_towards(address));
}

plan::Environment interface_variables(std::span<const std::string> names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ",") + name;
  return {"GLOO_SOCKET_IFNAME=" + names.front(), "NCCL_SOCKET_IFNAME=" + all, "HOROVOD_GLOO_IFACE=" + names.front()};
}

std::vector<InterfaceAddress> interface_addresses() {
  std::vector<InterfaceAddress> out;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return out;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
      if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != family || (i->ifa_flags & IFF_UP) == 0) continue;
      const Address address = address_in(i->ifa_addr);
      if (address.is_v6() && address.to_v6().is_link_local()) continue;
      out.push_back({i->ifa_name, address.to_string()});
    }
  }
  return out;
}

}  // namespace sml::agent
