// Runs the host's own program getent(1) to query its name service without loading a module of it into this process.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/transport/names/accounts.h"
#include "launcher/transport/names/addresses.h"

namespace sml::names {

// Parses lines of `getent ahosts NAME`: an address, the socket type, and on the first line the name. Returns each
// address of that family (AF_UNSPEC: any) once, with that port, in the order of the lines; ignores any other line.
std::vector<Address> parse_hosts(std::string_view lines, std::uint16_t port, int family);

// Parses a line of `getent passwd UID`; nullopt: the line has another form.
std::optional<Account> parse_account(std::string_view line);

// The output of `getent DATABASE KEY`, at most 64 KiB; "" if there is no getent, or it finds nothing. Blocks until it
// has ended.
std::string ask_getent(const std::string& database, const std::string& key);

}  // namespace sml::names
