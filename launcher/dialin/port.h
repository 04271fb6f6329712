// The head's port, and numeric addresses. No TLS, no messages.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/os/fd.h"

namespace sml::dialin {

// A non-blocking socket that listens on the port of every interface, IPv4 and IPv6. Error (Io): the port is taken, and
// by whom.
Result<os::UniqueFd> listen_on(std::uint16_t port);

// The same, and nothing where somebody listens there already.
Result<std::optional<os::UniqueFd>> listen_unless_taken(std::uint16_t port);

// The next caller, as a non-blocking socket without delay that notices a silent peer; empty: there is none, or the
// system gives no descriptor.
os::UniqueFd accept_one(int listener);

// Numeric forms of the two ends; an IPv4 address in IPv6 clothes as IPv4. Empty when unknown.
std::string near_address(int fd);
std::string far_address(int fd);

// Those that a name has now. Waits for the resolver, without a bound of its own. Error: Resolve.
Result<std::vector<std::string>> addresses_of(const std::string& name);

}  // namespace sml::dialin
