#include "launcher/inputs/hosts/spare_hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sml {

Result<std::vector<plan::Host>> take_spares(plan::HostList& list, const RestartOptions& restart) {
  const std::size_t most = restart.most_hosts.value_or(UINT32_MAX);
  const std::size_t beyond = list.hosts.size() > most ? list.hosts.size() - most : 0;
  const std::size_t count = std::max<std::size_t>(restart.spares, beyond);
  const bool comes_back = restart.least.may_shrink() && restart.exclude.cool_down;
  if (list.calls && (count > 0 || comes_back ||
                     (restart.discovery.is_on() && restart.discovery.callers == DiscoveryOptions::Callers::AtStart))) {
    return Error(
        ErrorKind::Usage,
        "--spares, --max-hosts, --exclude-for, --watch-hosts and --host-discovery-script: where hosts call each other, "
        "the list of hosts is fixed at the start; start sml-run on one host only, which connects to the others");
  }
  if (count == 0) return std::vector<plan::Host>();
  if (count >= list.hosts.size()) {
    return Error(ErrorKind::Usage,
                 fmt::format("--spares {}: there {} only {} from {}, and one at least has the workers", count,
                             list.hosts.size() == 1 ? "is" : "are", list.hosts.size(), list.source));
  }
  const auto first = list.hosts.end() - static_cast<std::ptrdiff_t>(count);
  std::vector<plan::Host> out(std::make_move_iterator(first), std::make_move_iterator(list.hosts.end()));
  list.hosts.erase(first, list.hosts.end());
  return out;
}

Result<void> check_discovery(const Options& options) {
  const DiscoveryOptions& discovery = options.restart.discovery;
  if (discovery.most_ranks && *discovery.most_ranks < options.np.value_or(0)) {
    return Error(ErrorKind::Usage,
                 fmt::format("--max-np {} is less than the {} of --np", *discovery.most_ranks, *options.np));
  }
  if (discovery.most_ranks && !options.more_programs.empty()) {
    return Error(ErrorKind::Usage, "--max-np: a job of several programs keeps its size");
  }
  if (!discovery.is_on()) return {};
  if (options.restart.max == 0) return Error(ErrorKind::Usage, "--watch-hosts requires --max-restarts");
  const bool lists = !options.hosts.empty() || !options.hostfile.empty() || !options.resource_config.empty();
  if (!discovery.script.empty() && (lists || discovery.watches())) {
    return Error(ErrorKind::Usage,
                 "--host-discovery-script lists the hosts; --hosts, --hostfile and --resource-config cannot be given "
                 "with it");
  }
  if (discovery.watches() && !options.hosts.empty()) {
    return Error(ErrorKind::Usage, "--watch-hosts reads the hosts from --hostfile; --hosts cannot be given with it");
  }
  const bool chooses = !options.include_hosts.empty() || !options.exclude_hosts.empty() || options.host_count ||
                       !options.restart.exclude.file.empty() || !options.rankfile.empty() ||
                       !options.more_programs.empty();
  if (!chooses) return {};
  return Error(ErrorKind::Usage,
               "--include, --exclude, --host-count, --exclude-file, --rankfile and several programs cannot be had with "
               "hosts that change (--host-discovery-script, --watch-hosts); let the list leave hosts out");
}

Result<void> check_least(const RestartOptions& restart, const plan::JobMap& map) {
  const plan::LeastSize& least = restart.least;
  const std::uint32_t hosts = map.group_world_size();
  if (least.hosts && hosts < *least.hosts) {
    return Error(ErrorKind::Usage, fmt::format("--min-hosts {}: only {} of the hosts have ranks", *least.hosts, hosts));
  }
  if (least.ranks && map.world_size() < *least.ranks) {
    return Error(ErrorKind::Usage, fmt::format("--min-np {}: there are only {} ranks", *least.ranks, map.world_size()));
  }
  if (least.may_shrink() && restart.max > 0 && !map.roles.empty()) {
    return Error(ErrorKind::Usage, "--min-hosts and --min-np: a job of several programs keeps its size");
  }
  return {};
}

// If hosts may change, those without ranks at first may get some later.
void add_spares(plan::JobMap& map, std::vector<plan::Host> spares, const DiscoveryOptions& discovery) {
  for (plan::MappedHost& host : map.hosts) {
    if (discovery.is_on() && host.ranks.empty() && host.slots > 0) host.duty = plan::HostDuty::Spare;
  }
  for (plan::Host& spare : spares) {
    const std::uint32_t slots = spare.slots.value_or(1);
    map.hosts.push_back({.host = std::move(spare), .slots = slots, .ranks = {}, .duty = plan::HostDuty::Spare});
  }
  plan::number_hosts(map);
}

// With --max-np all slots are used, up to that number; --np is then the minimum.
std::optional<std::uint32_t> ranks_at_first(const Options& options, const plan::HostList& hosts) {
  const DiscoveryOptions& discovery = options.restart.discovery;
  if (!discovery.most_ranks) return options.np;
  std::uint64_t slots = 0;
  for (const plan::Host& host : hosts.hosts) {
    const std::uint32_t own = host.slots.value_or(1);
    slots += std::min(own, options.layout.per_host.value_or(own));
  }
  const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(slots, *discovery.most_ranks));
  return std::max(most, options.np.value_or(1));
}

}  // namespace sml
