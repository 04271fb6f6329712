#include "launcher/transport/locality.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include <ifaddrs.h>
#include <netinet/in.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/transport/names/addresses.h"

namespace sml::transport {
namespace {

// The bytes that identify an address; an IPv4-mapped IPv6 address counts as IPv4. Empty for other families.
struct AddressBytes {
  std::array<unsigned char, 16> bytes{};
  std::size_t size = 0;
  bool operator==(const AddressBytes&) const = default;
};

AddressBytes bytes_of(const sockaddr& address) {
  AddressBytes result;
  if (address.sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof v4);
    result.size = sizeof v4.sin_addr;
    std::memcpy(result.bytes.data(), &v4.sin_addr, result.size);
  } else if (address.sa_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &address, sizeof v6);
    const bool mapped = IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr);
    result.size = mapped ? 4 : sizeof v6.sin6_addr;
    std::memcpy(result.bytes.data(), v6.sin6_addr.s6_addr + (mapped ? 12 : 0), result.size);
  }
  return result;
}

bool is_loopback(const AddressBytes& address) {
  if (address.size == 4) return address.bytes[0] == 127;
  return address.size == 16 && std::memcmp(address.bytes.data(), &in6addr_loopback, 16) == 0;
}

}  // namespace

bool is_own_address(const sockaddr& address) {
  const AddressBytes wanted = bytes_of(address);
  if (wanted.size == 0) return false;
  if (is_loopback(wanted)) return true;
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0) return false;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(raw, &::freeifaddrs);
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr != nullptr && bytes_of(*entry->ifa_addr) == wanted) return true;
  }
  return false;
}

bool is_own_name(const std::string& name) {
  std::array<char, 256> own{};
  if (::strcasecmp(name.c_str(), "localhost") == 0) return true;
  return ::gethostname(own.data(), own.size() - 1) == 0 && ::strcasecmp(name.c_str(), own.data()) == 0;
}

bool is_this_machine(const std::string& name) { return whose_host(name) == Whose::Ours; }

Whose whose_host(const std::string& name) {
  if (is_own_name(name)) return Whose::Ours;
  const Result<std::vector<names::Address>> found = names::addresses_of(name, 1, AF_UNSPEC);
  if (!found) return Whose::Unknown;
  const bool ours = std::any_of(found->begin(), found->end(),
                                [](const names::Address& address) { return is_own_address(address.any()); });
  return ours ? Whose::Ours : Whose::Others;
}

}  // namespace sml::transport
