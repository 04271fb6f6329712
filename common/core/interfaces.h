// Chooses the network interfaces of a host that a job uses, if the user names some. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"

namespace sml {

// Parses "eth0,10.0.0.0/8,fd00::/16" into its entries: names of interfaces, and networks of their addresses. The
// message of an error (Usage) is meant to follow "--interface: ".
Result<std::vector<std::string>> parse_interface_list(std::string_view text);

// A numeric address of an interface that is up; an interface with several addresses appears several times.
struct InterfaceAddress {
  std::string name;
  std::string address;
};

struct ChosenInterfaces {
  std::vector<std::string> names;      // the first is used for the rendezvous
  std::vector<std::string> addresses;  // those that match: all of a named interface, else those in the network
};

// From where an address can be reached. Neither: the text is no address, or one that is not that of a single host
// (unspecified, multicast, broadcast, reserved, or that of a cloud's metadata service).
enum class AddressUse : std::uint8_t { Neither, ThisMachine, OtherHosts };
AddressUse use_of_address(std::string_view numeric);

// Returns the interfaces of `present` that match `wanted` (entries of parse_interface_list()), in the order of
// `wanted`, then of `present`. Loopback is chosen by its name only. Error (Connect) if none matches; it names all
// interfaces, and is equal on hosts with equal interfaces.
Result<ChosenInterfaces> choose_interfaces(std::span<const std::string> wanted,
                                           std::span<const InterfaceAddress> present);

}  // namespace sml
