#include "launcher/start/find_hosts.h"

#include <utility>

#include "launcher/inputs/hosts/spare_hosts.h"
#include "launcher/run/restarts/first_hosts.h"
#include "launcher/start/refusal.h"

namespace sml {

Result<std::optional<std::vector<plan::Host>>> discover_hosts(Options& options) {
  if (Result<void> checked = check_discovery(options); !checked) return checked.error();
  DiscoveryOptions& discovery = options.restart.discovery;
  discovery.hostfile = options.hostfile;
  discovery.slots = options.nproc_per_node;
  discovery.ranks_per_host = options.layout.per_host;
  if (discovery.is_on() && !discovery.most_ranks) discovery.most_ranks = options.np;
  if (discovery.is_on() && !options.output.tag) options.output.tag = *output::TagTemplate::parse("[{rank}] ");
  if (discovery.script.empty() || options.explain == Explain::Yes) return std::optional<std::vector<plan::Host>>();
  const plan::LeastSize& least = options.restart.least;
  const run::WantedHosts wanted{.hosts = least.hosts.value_or(1) + options.restart.spares,
                                .slots = options.np.value_or(least.ranks.value_or(1))};
  Result<std::vector<plan::Host>> found = run::first_hosts(discovery, wanted, print);
  if (!found) return found.error();
  return std::optional(std::move(*found));
}

}  // namespace sml
