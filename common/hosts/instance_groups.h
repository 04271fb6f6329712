// What resourceconfig.json of a SageMaker training job says about its hosts beyond their names: their instance groups,
// and which of them are close to each other.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/host.h"

namespace sml::hosts {

struct InstanceGroup {
  std::string name;
  std::vector<std::string> hosts;  // in no order that means anything
  bool operator==(const InstanceGroup&) const = default;
};

// Of a text that parse_resource_config() accepts. None when the file has none. Errors (kind Config) name the path.
Result<std::vector<InstanceGroup>> parse_instance_groups(std::string_view text, std::string_view path);

// The hosts of some groups, in the order of `hosts`. `wanted` is NAME[:SLOTS] with commas between, SLOTS being those of
// each host of the group. Errors (kind Usage) quote the word and say what was expected.
Result<std::vector<plan::Host>> hosts_of_groups(const std::vector<plan::Host>& hosts,
                                                const std::vector<InstanceGroup>& groups, std::string_view wanted);

// Hosts with one capacityUnitId in "topology" share an NVLink domain: they come to stand together, where the first of
// them stands. Nothing happens when the file says nothing of that kind, or something else.
void keep_domains_together(std::vector<plan::Host>& hosts, std::string_view text, std::string_view path);

}  // namespace sml::hosts
