#include "common/plan/machine/host.h"

#include <arpa/inet.h>

#include <algorithm>
#include <string_view>

#include "common/core/letters.h"

namespace sml::plan {

namespace {

constexpr std::size_t kMaxNameLength = 255;  // a DNS name has at most 253 bytes
constexpr std::size_t kMaxUserLength = 64;

constexpr bool is_host_char(char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; }

bool is_ipv6(std::string_view name) {
  const std::size_t percent = name.find('%');
  if (percent != std::string_view::npos) {  // the zone of a link-local address: an interface name
    const std::string_view zone = name.substr(percent + 1);
    if (zone.empty() || !std::all_of(zone.begin(), zone.end(), is_host_char)) return false;
  }
  const std::string address(name.substr(0, percent));
  if (address.find('\0') != std::string::npos) return false;  // inet_pton stops at a NUL byte
  in6_addr bytes{};
  return ::inet_pton(AF_INET6, address.c_str(), &bytes) == 1;
}

}  // namespace

bool valid_host_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameLength) return false;
  if (name.find(':') != std::string_view::npos) return is_ipv6(name);
  // A leading '-' would be read as an option by ssh; a leading '.' makes a hidden file of a log named after the host.
  return name[0] != '-' && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_host_char(c); });
}

bool valid_user_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxUserLength || name[0] == '-') return false;
  // Directory services write DOMAIN\user, user@realm and machine$.
  return std::all_of(name.begin(), name.end(), [](char c) {
    return is_host_char(c) || std::string_view("+$@\\").find(c) != std::string_view::npos;
  });
}

}  // namespace sml::plan
