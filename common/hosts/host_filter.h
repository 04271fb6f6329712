// Leaving out hosts or some of their slots, with the grammar of DeepSpeed's --include and --exclude.
#pragma once
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/host.h"

namespace sml::hosts {

enum class Filter : std::uint8_t { Include, Exclude };

// FILTER = part *( "@" part ); part = name [ ":" slot *( "," slot ) ]; name with ranges as in name_pattern.h; slots
// count from 0. Include keeps the named hosts and slots and nothing else, Exclude leaves them out; a host without any
// slot left goes. The order of the hosts stays. Where slots are named, Host::slot_numbers tells which are left. Every
// host must have its slots filled in. Errors (kind Usage) quote the part: a host that is not there, a slot that it does
// not have, nothing left.
Result<void> filter_hosts(std::vector<plan::Host>& hosts, std::string_view filter, Filter what);

}  // namespace sml::hosts
