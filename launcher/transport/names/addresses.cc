#include "launcher/transport/names/addresses.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include <netdb.h>
#ifdef SML_STATIC
#include <nss.h>
#endif

#include "common/core/text.h"
#include "launcher/transport/names/getent.h"

namespace sml::names {

namespace {

#ifdef SML_STATIC
constexpr bool kAsksGetent = true;
#else
constexpr bool kAsksGetent = false;  // the C library has asked the modules
#endif

Error resolve_error(int code, int sys_errno) {
  if (code == EAI_SYSTEM) return sys_error(ErrorKind::Resolve, "cannot resolve the host name", sys_errno);
  if (code == EAI_NONAME || code == EAI_NODATA) return Error(ErrorKind::Resolve, "host name not known");
  return Error(ErrorKind::Resolve, std::string("cannot resolve the host name: ") + ::gai_strerror(code));
}

}  // namespace

void keep_to_built_in_sources() {
#ifdef SML_STATIC
  for (const char* database : {"passwd", "group", "services", "protocols", "networks"}) {
    ::__nss_configure_lookup(database, "files");
  }
  ::__nss_configure_lookup("hosts", "files dns");
#endif
}

Result<std::vector<Address>> addresses_of(const std::string& host, std::uint16_t port, int family) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_family = family;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* raw = nullptr;
  if (const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &raw); code != 0) {
    const int sys_errno = errno;
    if (kAsksGetent) {
      std::vector<Address> known = parse_hosts(ask_getent("ahosts", host), port, family);
      if (!known.empty()) return known;
    }
    return resolve_error(code, sys_errno);
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(raw, &::freeaddrinfo);
  std::vector<Address> addresses;
  for (const addrinfo* entry = list.get(); entry != nullptr; entry = entry->ai_next) {
    Address& address = addresses.emplace_back();
    address.size = std::min<socklen_t>(entry->ai_addrlen, sizeof address.storage);
    std::memcpy(&address.storage, entry->ai_addr, address.size);
  }
  return addresses;
}

std::string numeric(const sockaddr& address, socklen_t size) {
  std::array<char, NI_MAXHOST> text{};
  if (address.sa_family != AF_INET && address.sa_family != AF_INET6) return {};
  if (::getnameinfo(&address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) return {};
  return text.data();
}

}  // namespace sml::names
