// Is a host this machine? Then its agent is started without ssh.
#pragma once
#include <cstdint>
#include <string>

struct sockaddr;

namespace sml::launch {

// Is it a loopback address or an address of one of our interfaces? Asks the kernel; does not wait.
bool is_own_address(const sockaddr& address);

enum class Whose : std::uint8_t { Ours, Others, Unknown };

// Whose host it is: ours by is_this_machine(), else others', where it resolves. May wait as that does.
Whose whose_host(const std::string& name);

// Is it our host name, "localhost", or a name or number whose address (any of them) is our own? May wait for the
// resolver, without a bound of its own: not for the loop thread. A name that does not resolve is not ours.
bool is_this_machine(const std::string& name);

// The part of the above that needs no resolver: our host name or "localhost", in any case of letters.
bool is_own_name(const std::string& name);

}  // namespace sml::launch
