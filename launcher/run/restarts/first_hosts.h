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

// The least hosts and slots that are waited for.
struct WantedHosts {
  std::uint32_t hosts = 1;
  std::uint32_t slots = 1;
};
// A clause that describes which of these `hosts` lack, such as "2 slots, fewer than the 8 that are needed"; empty if
// there are enough. If a host has no number of slots, and `options` have no default, slots are not counted.
std::string lacking(const std::vector<plan::Host>& hosts, const WantedHosts& wanted, const DiscoveryOptions& options);

// Runs the script until it lists enough hosts. `print` informs the user that this takes time. Error (Config): the
// script fails, or its output is not a host list; (Timeout): not enough hosts within the time that the options set.
Result<std::vector<plan::Host>> first_hosts(const DiscoveryOptions& options, const WantedHosts& wanted,
                                            const std::function<void(const std::string& text)>& print);

}  // namespace sml::run
