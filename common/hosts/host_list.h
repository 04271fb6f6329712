// Text that names hosts: the value of -H.
#pragma once
#include <string_view>

#include "common/core/error.h"
#include "common/plan/host.h"

namespace sml::hosts {

// LIST = item *( "," item ); each item as in host_expression.h, with blanks around it or not. A host named twice is
// merged, see host_collector.h. Errors (kind Usage) quote the offending item and say what was expected: empty item,
// trailing comma, ":" without a number, slots that are no number, negative or above kMaxSlotsPerHost, a bad name, a bad
// or too large range (refused before it is expanded).
Result<std::vector<plan::Host>> parse_host_list(std::string_view text);

}  // namespace sml::hosts
