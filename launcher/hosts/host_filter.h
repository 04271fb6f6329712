// Removes hosts or some of their slots, with the grammar of DeepSpeed's --include and --exclude.
#pragma once
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/machine/host.h"

namespace sml::hosts {

// Include keeps only the hosts and slots that the filter names, Exclude removes them.
enum class Filter : std::uint8_t { Include, Exclude };

// FILTER = part *( "@" part ); part = name [ ":" slot *( "," slot ) ]; name with ranges as in name_pattern.h; slots
// count from 0. A host that has no slot left is removed. The order of the hosts stays. If the filter names slots of a
// host, Host::slot_numbers lists those that are left. Every host must have its slots filled in. Errors (kind Usage)
// quote the part: an unknown host, a slot that it does not have, or no host left.
Result<void> filter_hosts(std::vector<plan::Host>& hosts, std::string_view filter, Filter what);

}  // namespace sml::hosts
