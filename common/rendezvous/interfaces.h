// Which network interfaces of a host a job uses, when the user says so. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"

namespace sml::rendezvous {

// "eth0,10.0.0.0/8,fd00::/16" → its entries: names of interfaces, and networks in which their addresses lie. Errors
// (Usage) go on after "--interface: ".
Result<std::vector<std::string>> parse_interface_list(std::string_view text);

// An address of an interface that is up, numeric; one of several addresses comes several times.
struct InterfaceAddress {
  std::string name;
  std::string address;
};

struct ChosenInterfaces {
  std::vector<std::string> names;      // the first is the one to meet at
  std::vector<std::string> addresses;  // of these, in their order
};

// What an address is good for when others are to call it. Neither: it is none, or no single host can have it there
// (unspecified, multicast, broadcast, reserved, or that of a cloud's metadata service).
enum class AddressUse : std::uint8_t { Neither, ThisMachine, OtherHosts };
AddressUse use_of_address(std::string_view numeric);

// What is there of what is wanted, in the order of `wanted` (entries of parse_interface_list()), then of `present`.
// Loopback is chosen by its name only. Error (Connect) when nothing is there; it names all interfaces, and is the same
// on hosts that have the same ones.
Result<ChosenInterfaces> choose_interfaces(std::span<const std::string> wanted,
                                           std::span<const InterfaceAddress> present);

}  // namespace sml::rendezvous
