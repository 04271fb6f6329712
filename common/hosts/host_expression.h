// One item of -H, and the first word of a hostfile's line: hosts with what belongs to them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/host.h"

namespace sml::hosts {

// What one expression names: hosts that differ in their names only. Value type.
struct AlikeHosts {
  plan::Host first;
  std::vector<std::string> other_names;  // none, but for a name with ranges
};

// EXPRESSION = [user "@"] name [ ":" slots | "/" slots | ":" port "/" [slots] ]
//            | "ssh://" [user "@"] name [":" port] ["/" [slots]]
// name = a host name with optional ranges "algo-[1-4,7]-ib[0-1]", or an IPv6 literal in brackets "[2001:db8::1]".
// The number after ":" is slots, as Open MPI, MPICH and Horovod have it, unless a "/" follows or "ssh://" stands
// before. At most `limit` hosts come out, each with a valid name. Zero slots are allowed.
// Errors (kind Usage) are clauses that go on after the quoted expression: "has no host name; expected ...".
Result<AlikeHosts> parse_host_expression(std::string_view text, std::size_t limit);

// "4" → 4. The error is a clause: "has \"x\" after \"TEXT\"; expected a whole number of slots from 0 to 65536".
Result<std::uint32_t> parse_slots(std::string_view text, std::string_view after);

// "2222" → 2222; as above.
Result<std::uint16_t> parse_port(std::string_view text, std::string_view after);

}  // namespace sml::hosts
