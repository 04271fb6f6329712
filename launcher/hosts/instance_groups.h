// Reads further facts about the hosts from resourceconfig.json of a SageMaker training job: their instance groups, and
// which of them are close to each other.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/machine/host.h"

namespace sml::hosts {

struct InstanceGroup {
  std::string name;
  std::vector<std::string> hosts;  // in no meaningful order
  bool operator==(const InstanceGroup&) const = default;
};

// `text` must be one that parse_resource_config() accepts. Returns no groups if the file has none. Errors (kind Config)
// name the path.
Result<std::vector<InstanceGroup>> parse_instance_groups(std::string_view text, std::string_view path);

// Returns the hosts of some groups, in the order of `hosts`. `wanted` is a comma-separated list of NAME[:SLOTS], where
// SLOTS is the number for each host of the group. Errors (kind Usage) quote the word and describe what was expected.
Result<std::vector<plan::Host>> hosts_of_groups(const std::vector<plan::Host>& hosts,
                                                const std::vector<InstanceGroup>& groups, std::string_view wanted);

// Moves hosts with the same capacityUnitId in "topology", which share an NVLink domain, next to each other, to the
// position of the first of them. Does nothing if the file has no topology or cannot be parsed.
void keep_domains_together(std::vector<plan::Host>& hosts, std::string_view text, std::string_view path);

}  // namespace sml::hosts
