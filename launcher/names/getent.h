// The host's own program getent(1): what its name service says, without a module of it in our process.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/names/accounts.h"
#include "launcher/names/addresses.h"

namespace sml::names {

// Lines of `getent ahosts NAME`: an address, the kind of socket, on the first line the name. One entry for each
// address, in the order of the lines; a line that is none of this is passed over.
std::vector<Address> parse_hosts(std::string_view lines, std::uint16_t port, int family);

// A line of `getent passwd UID`; nothing where it is none.
std::optional<Account> parse_account(std::string_view line);

// What `getent DATABASE KEY` prints, at most 64 KiB; "" when there is no getent, or it knows nothing. Waits for its
// end.
std::string ask_getent(const std::string& database, const std::string& key);

}  // namespace sml::names
