#include "common/core/interfaces.h"

#include <algorithm>
#include <array>
#include <optional>

#include <arpa/inet.h>

#include "common/core/letters.h"
#include "common/core/text.h"

namespace sml {

namespace {

constexpr std::size_t kLongestName = 15;  // IFNAMSIZ without its NUL
constexpr std::size_t kMostEntries = 64;

struct Address {
  std::array<unsigned char, 16> bytes{};
  std::size_t size = 0;
  bool is_loopback() const {
    constexpr unsigned char kLoopbackNetwork = 127;
    if (size == 4) return bytes[0] == kLoopbackNetwork;
    return bytes.back() == 1 && std::count(bytes.begin(), bytes.end(), 0) == 15;
  }
  // "::ffff:10.0.0.1" means 10.0.0.1.
  Address without_mapping() const {
    constexpr std::array<unsigned char, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (size == 4 || !std::equal(kMapped.begin(), kMapped.end(), bytes.begin())) return *this;
    Address out{.bytes = {}, .size = 4};
    std::copy(bytes.begin() + kMapped.size(), bytes.end(), out.bytes.begin());
    return out;
  }
};

struct Network {
  Address address;
  std::size_t bits = 0;
  bool contains(const Address& other) const {
    if (other.size != address.size) return false;
    for (std::size_t bit = 0; bit < bits; ++bit) {
      const unsigned mask = 0x80U >> (bit % 8);
      if (((address.bytes[bit / 8] ^ other.bytes[bit / 8]) & mask) != 0) return false;
    }
    return true;
  }
};

std::optional<Address> parse_address(std::string_view text) {
  const std::string copy(text);
  Address out;
  if (::inet_pton(AF_INET, copy.c_str(), out.bytes.data()) == 1) {
    out.size = 4;
  } else if (::inet_pton(AF_INET6, copy.c_str(), out.bytes.data()) == 1) {
    out.size = 16;
  } else {
    return std::nullopt;
  }
  return out;
}

std::optional<Network> parse_network(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<Address> address = parse_address(text.substr(0, slash));
  const auto bits = parse_number<std::size_t>(text.substr(slash + 1));
  if (!address || !bits || *bits > address->size * 8) return std::nullopt;
  return Network{*address, *bits};
}

bool is_name(std::string_view text) {
  const auto allowed = [](char c) {
    return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-' || c == ':' || c == '@';
  };
  return !text.empty() && text.size() <= kLongestName && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), allowed);
}

void add_once(std::vector<std::string>& list, const std::string& one) {
  if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
}

bool matches(const std::string& wanted, const InterfaceAddress& present) {
  const std::optional<Network> network = parse_network(wanted);
  if (!network) return wanted == present.name;
  const std::optional<Address> address = parse_address(present.address);
  return address && !address->is_loopback() && network->contains(*address);
}

std::string joined(std::span<const std::string> words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ",") + word;
  return out;
}

}  // namespace

Result<std::vector<std::string>> parse_interface_list(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string_view entry : split(text, ',')) {
    if (entry.find('/') == std::string_view::npos && parse_address(entry)) {
      return bad_value(entry, "a network; write how many of its bits count, as in 10.0.0.0/8");
    }
    if (!is_name(entry) && !parse_network(entry)) {
      return bad_value(entry, "the name of an interface, such as eth0, or a network, such as 10.0.0.0/8 or fd00::/16");
    }
    add_once(out, std::string(entry));
    if (out.size() > kMostEntries) {
      return Error(ErrorKind::Usage, "more than " + std::to_string(kMostEntries) + " interfaces");
    }
  }
  return out;
}

AddressUse use_of_address(std::string_view numeric) {
  // Unspecified, multicast, reserved with broadcast, metadata.
  static constexpr std::array<std::string_view, 6> kOfNoHost{"0.0.0.0/8", "224.0.0.0/4",        "240.0.0.0/4",
                                                             "::/128",    "169.254.169.254/32", "ff00::/8"};
  const std::optional<Address> parsed = parse_address(numeric);
  if (!parsed) return AddressUse::Neither;
  const Address address = parsed->without_mapping();
  if (address.is_loopback()) return AddressUse::ThisMachine;
  const bool of_no_host = std::any_of(kOfNoHost.begin(), kOfNoHost.end(), [&](std::string_view network) {
    return parse_network(network)->contains(address);
  });
  return of_no_host ? AddressUse::Neither : AddressUse::OtherHosts;
}

Result<ChosenInterfaces> choose_interfaces(std::span<const std::string> wanted,
                                           std::span<const InterfaceAddress> present) {
  ChosenInterfaces chosen;
  for (const std::string& entry : wanted) {
    for (const InterfaceAddress& one : present) {
      if (!matches(entry, one)) continue;
      add_once(chosen.names, one.name);
      add_once(chosen.addresses, one.address);
    }
  }
  if (!chosen.names.empty()) return chosen;
  std::vector<std::string> there;
  for (const InterfaceAddress& one : present) add_once(there, one.name);
  return Error(ErrorKind::Connect, "no interface that is up and has an address matches --interface " + joined(wanted) +
                                       "; there is " + (there.empty() ? "none" : joined(there)))
      .with_hint("--interface takes a list, from which each host uses what it has");
}

}  // namespace sml
