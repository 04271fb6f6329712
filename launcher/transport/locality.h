// Whether a host is this machine, so that its agent is started without ssh.
#pragma once
#include <cstdint>
#include <string>

struct sockaddr;

namespace sml::transport {

// Whether `address` is a loopback address or belongs to an interface of this machine. Asks the kernel; does not block.
bool is_own_address(const sockaddr& address);

enum class Whose : std::uint8_t { Ours, Others, Unknown };

// Ours: is_this_machine() is true. Others: the name resolves to another machine. Unknown: it does not resolve. May
// block, as is_this_machine() does.
Whose whose_host(const std::string& name);

// Whether `name` is this machine's host name, "localhost", a numeric address of this machine, or a name that resolves
// to at least one such address. May block on the resolver without a time limit: do not call it on the loop thread.
// False for a name that does not resolve.
bool is_this_machine(const std::string& name);

// The part of is_this_machine() that needs no resolver: this machine's host name or "localhost", ignoring case.
bool is_own_name(const std::string& name);

}  // namespace sml::transport
