// Waits for the first hosts that --host-discovery-script lists, before the job is planned.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/machine/host.h"
#include "launcher/options/restart_options.h"

namespace sml::run {

// The job waits for at least so many hosts and slots.
struct WantedHosts {
  std::uint32_t hosts = 1;
  std::uint32_t slots = 1;
};
// Returns what `hosts` lack, as a part of a sentence: "2 slots, fewer than the 8 that are needed". Empty if there are
// enough. If a host has no number of slots, and `options` have no default, slots are not counted.
std::string lacking(const std::vector<plan::Host>& hosts, const WantedHosts& wanted, const DiscoveryOptions& options);

// Runs the script again and again until it lists enough hosts. Blocks; runs a loop of its own. `print` informs the user
// while the job waits. Error (Config): the script fails, or its output is not a host list; (Timeout): not enough hosts
// within the time that the options set, or a script that hangs.
Result<std::vector<plan::Host>> first_hosts(const DiscoveryOptions& options, const WantedHosts& wanted,
                                            const std::function<void(const std::string& text)>& print);

}  // namespace sml::run
