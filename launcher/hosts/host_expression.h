// Parses one item of -H, or the first word of a hostfile's line: hosts with their user, port and slots.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/machine/host.h"

namespace sml::hosts {

// The hosts that one expression names; they differ only in their names. Value type.
struct AlikeHosts {
  plan::Host first;
  std::vector<std::string> other_names;  // empty unless the name has ranges
};

// EXPRESSION = [user "@"] name [ ":" slots | "/" slots | ":" port "/" [slots] ]
//            | "ssh://" [user "@"] name [":" port] ["/" [slots]]
// name = a host name with optional ranges "algo-[1-4,7]-ib[0-1]", or an IPv6 literal in brackets "[2001:db8::1]".
// The number after ":" is the number of slots, as in Open MPI, MPICH and Horovod, unless a "/" follows it or the
// expression begins with "ssh://". Returns at most `limit` hosts, all with valid names. Zero slots are allowed.
// Error messages (kind Usage) continue a sentence that begins with the quoted expression: "has no host name; expected
// ...".
Result<AlikeHosts> parse_host_expression(std::string_view text, std::size_t limit);

// "4" → 4. `after` is the text before the number, for the message. The error message continues such a sentence, too:
// "has \"x\" after \"TEXT\"; expected a whole number of slots from 0 to 65536".
Result<std::uint32_t> parse_slots(std::string_view text, std::string_view after);

// "2222" → 2222. `after` and the error message are as in parse_slots().
Result<std::uint16_t> parse_port(std::string_view text, std::string_view after);

}  // namespace sml::hosts
