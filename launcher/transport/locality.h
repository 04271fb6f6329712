// Whether a host is this machine, so that its agent is started without ssh.
#pragma once
#include <cstdint>
#include <string>

struct sockaddr;

namespace sml::transport {

// Whether it is a loopback address or an address of one of this machine's interfaces. Asks the kernel; does not block.
bool is_own_address(const sockaddr& address);

enum class Whose : std::uint8_t { Ours, Others, Unknown };

// Ours if is_this_machine(), Others if the name resolves to another machine. May block like that.
Whose whose_host(const std::string& name);

// Whether it is this machine's host name, "localhost", or a name or number of which any address is this machine's. May
// block on the resolver without a time limit: do not call it on the loop thread. A name that does not resolve is not
// this machine.
bool is_this_machine(const std::string& name);

// The part of the above that needs no resolver: this machine's host name or "localhost", ignoring case.
bool is_own_name(const std::string& name);

}  // namespace sml::transport
