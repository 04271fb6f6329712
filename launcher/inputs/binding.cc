#include "launcher/inputs/binding.h"

#include <algorithm>

namespace sml {

Result<void> count_by_parts(plan::RankLayout& layout, const Options& options, const ThisHost& here) {
  if (options.binding.per_part == 0) return {};
  const plan::CpuTopology topology = here.hardware.cpu_topology ? here.hardware.cpu_topology() : plan::CpuTopology();
  if (topology.empty()) {
    return Error(ErrorKind::Usage, "--map-by: the processors of this machine cannot be read; write ppr:N:host");
  }
  layout.per_host = options.binding.per_part * plan::count_parts(topology, options.binding.map_by);
  return {};
}

Result<void> count_hwthreads(plan::BindingRequest& request, const Options& options) {
  if (options.processors == Processors::Cores) return {};
  if (!request.cores.empty()) {
    return Error(ErrorKind::Usage, "--cpu-set names cores, so that it cannot be had with --use-hwthread-cpus");
  }
  const bool by_count = options.bind_to_set == SetByUser::No && request.cores_per_rank > 0;
  if (by_count && request.bind_to == plan::BindTo::Core) request.bind_to = plan::BindTo::Hwthread;
  return {};
}

void bind_as_open_mpi(plan::BindingRequest& request, const Options& options, const plan::JobMap& map) {
  if (options.bind_rule != BindRule::OpenMpi || !options.rankfile.empty()) return;
  const plan::BindTo own = options.processors == Processors::Cores ? plan::BindTo::Core : plan::BindTo::Hwthread;
  const bool few = map.world_size() <= 2;
  const bool is_set = options.bind_to_set == SetByUser::Yes || request.bind_to != plan::BindTo::None;
  if (options.map_by_said == SetByUser::No && !few) request.map_by = plan::BindTo::Numa;
  const auto crowded = [](const plan::MappedHost& host) { return host.ranks.size() > host.slots; };
  if (is_set || !request.cores.empty() || std::any_of(map.hosts.begin(), map.hosts.end(), crowded)) return;
  request.bind_to = few || request.cores_per_rank > 0 ? own : plan::BindTo::Numa;
  if (request.on_impossible == plan::OnImpossible::Warn) request.on_impossible = plan::OnImpossible::Ignore;
}

void bind_by_lists(plan::JobMap& map, const std::vector<std::string>& lists) {
  if (lists.empty() || !map.cores.empty()) return;
  for (const plan::RankAssignment& rank : map.ranks) {
    map.cores.push_back(lists[rank.local_rank.value() % lists.size()]);
  }
}

}  // namespace sml
