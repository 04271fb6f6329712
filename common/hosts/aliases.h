// Hosts that are one machine under several names.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/host.h"

namespace sml::hosts {

// Merges the hosts that are called by one of `own_names` and have neither user nor port: their slots add up at the
// place of the first. Every host must have its slots filled in. Nothing is resolved: other machines under several names
// stay several hosts. Answers a warning for each host that went. Error (Usage): too many slots.
Result<std::vector<std::string>> merge_aliases(std::vector<plan::Host>& hosts, std::span<const std::string> own_names);

}  // namespace sml::hosts
