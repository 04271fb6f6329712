// The hosts that --host-discovery-script lists at first, before anything is planned.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/host.h"
#include "launcher/options/restart_options.h"

namespace sml::run {

// Who is waited for.
struct WantedHosts {
  std::uint32_t hosts = 1;
  std::uint32_t slots = 1;
};
// What `hosts` lack of these, a clause such as "2 slots, fewer than the 8 that are needed"; empty: nothing. Where one
// has no slots, and `options` know none, slots are not counted.
std::string lacking(const std::vector<plan::Host>& hosts, const WantedHosts& wanted, const DiscoveryOptions& options);

// Runs the script until it lists enough. `say` tells people that this takes its time. Error (Config): the script fails,
// or prints what is no list; (Timeout): there are not enough within the time of the options.
Result<std::vector<plan::Host>> first_hosts(const DiscoveryOptions& options, const WantedHosts& wanted,
                                            const std::function<void(const std::string& text)>& say);

}  // namespace sml::run
