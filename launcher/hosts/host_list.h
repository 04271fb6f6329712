// Parses the value of -H.
#pragma once
#include <string_view>

#include "common/core/error.h"
#include "common/plan/machine/host.h"

namespace sml::hosts {

// LIST = item *( "," item ); each item as in host_expression.h, with optional blanks around it. Hosts that are named
// twice are merged, see host_collector.h. Errors (kind Usage) quote the faulty item and describe what was expected:
// empty item, trailing comma, ":" without a number, slots that are not a number, negative or above kMaxSlotsPerHost, a
// bad name, a bad or too large range (refused before it is expanded).
Result<std::vector<plan::Host>> parse_host_list(std::string_view text);

}  // namespace sml::hosts
