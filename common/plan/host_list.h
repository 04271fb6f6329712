// Text that names hosts: the value of -H.
#pragma once
#include <string_view>

#include "common/core/error.h"
#include "common/plan/host.h"

namespace sml::plan {

inline constexpr std::size_t kMaxHosts = 100'000;

// LIST = item *( "," item ); item = [user "@"] name [":" slots]. name = a host name with optional ranges
// "algo-[1-4,7]" (numbers keep the width of the lower bound), or an IPv6 literal in brackets "[2001:db8::1]". Blanks
// around items are allowed. A host named twice is merged: slots add, the first position stays (two unnamed counts add
// up to 2 if both are unnamed; a named and an unnamed count are an error, because the sum is unknown). Errors (kind
// Usage) quote the offending item and say what was expected: empty item, trailing comma, ":" without a number, slots
// that are no number, negative or above kMaxSlotsPerHost, a bad name, a bad or too large range (refused before it is
// expanded). Zero slots are allowed.
Result<std::vector<Host>> parse_host_list(std::string_view text);

}  // namespace sml::plan
