#include "launcher/inputs/hosts/host_slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/core/text.h"
#include "common/plan/machine/cpu_topology.h"
#include "launcher/inputs/hosts/host_source.h"

namespace sml {

namespace {

std::uint32_t count_cores(const ThisHost& here) {
  std::set<std::uint32_t> cores;
  for (const plan::Cpu& cpu : here.hardware.cpu_topology ? here.hardware.cpu_topology() : plan::CpuTopology()) {
    cores.insert(cpu.core);
  }
  return cores.empty() ? std::max(1U, here.hardware.count_cpus()) : static_cast<std::uint32_t>(cores.size());
}

Result<std::uint32_t> counted_slots(const Options& options, const ThisHost& here) {
  const bool cores = options.processors == Processors::Cores;
  const SlotsRule rule = options.slots_rule == SlotsRule::Core && !cores ? SlotsRule::Cpu : options.slots_rule;
  const std::uint32_t gpus_per_rank = options.gpus_per_rank.value_or(1);
  if (rule == SlotsRule::Cpu) return std::max(1U, here.hardware.count_cpus());
  if (rule == SlotsRule::Core) return count_cores(here);
  if (const std::uint32_t gpus = here.hardware.count_gpus(); gpus > 0) return std::max(1U, gpus / gpus_per_rank);
  if (rule == SlotsRule::GpuOrCpu) return std::max(1U, here.hardware.count_cpus());
  if (rule == SlotsRule::Gpu) {
    return Error(ErrorKind::Usage, "--nproc-per-node gpu: no GPU is found on this machine; give a number of slots");
  }
  return std::max(1U, here.hardware.count_neuron_cores() / gpus_per_rank);
}

// How many workers there are to be on the hosts of the job, when all programs give it.
std::optional<std::uint32_t> workers_on_job_hosts(const Options& options) {
  if (!options.np) return std::nullopt;
  std::uint64_t total = *options.np;
  for (const ProgramOptions& program : options.more_programs) {
    if (!program.hosts.empty()) continue;
    if (!program.np) return std::nullopt;
    total += *program.np;
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(total, UINT32_MAX));
}

// Cores are what mpirun counts by itself.
bool counted_by_user(const Options& options) {
  const bool own_way = options.slots_rule == SlotsRule::Core && options.slots_hold == SlotsHold::WhereNoneNamed;
  return options.nproc_per_node || (options.slots_rule != SlotsRule::Auto && !own_way);
}

}  // namespace

bool np_says_slots(const Options& options, const plan::RankLayout& layout, const plan::HostList& list,
                   const ThisHost& here) {
  if (layout.per_host || counted_by_user(options) || list.source != kThisHost) return false;
  const std::optional<std::uint32_t> workers = workers_on_job_hosts(options);
  const bool of_mpirun = options.slots_rule == SlotsRule::Core;  // which refuses more
  const bool too_many = of_mpirun && options.layout.oversubscribe == plan::Oversubscribe::No && workers &&
                        *workers > std::max(count_cores(here), here.hardware.count_cpus());
  return workers && !too_many;
}

Error with_missing_count(Error why, const Options& options, const plan::RankLayout& layout,
                         const plan::HostList& list) {
  if (options.more_programs.empty() || list.source != kThisHost) return why;
  if (layout.per_host || layout.rankfile || counted_by_user(options)) return why;
  std::vector<const ProgramOptions*> programs{&options};
  for (const ProgramOptions& program : options.more_programs) programs.push_back(&program);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (programs[i]->np || !programs[i]->hosts.empty() || programs[i]->command.empty()) continue;
    return Error(ErrorKind::Usage, fmt::format("program {} has no -np; write {}-np 1 {}", i + 1, i == 0 ? "" : ": ",
                                               show(programs[i]->command.front(), 60)));
  }
  return why;
}

namespace {

Result<std::uint32_t> default_slots(const Options& options, const plan::RankLayout& layout, const plan::HostList& list,
                                    const ThisHost& here) {
  if (options.nproc_per_node) return *options.nproc_per_node;
  if (layout.per_host && !counted_by_user(options)) return *layout.per_host;
  if (!np_says_slots(options, layout, list, here)) return counted_slots(options, here);
  return std::min(*workers_on_job_hosts(options), plan::kMaxSlotsPerHost);
}

// Whether the user's count holds on every host. --ranks-per-host and a rankfile count within the slots that are named,
// --group names them itself.
bool counts_every_host(const Options& options, const plan::RankLayout& layout) {
  return options.slots_hold == SlotsHold::OnEveryHost && !layout.per_host && options.rankfile.empty() &&
         options.groups.empty();
}

}  // namespace

Result<void> fill_slots(plan::HostList& list, const Options& options, const plan::RankLayout& layout,
                        const ThisHost& here) {
  if (counted_by_user(options) && (list.slots_are == plan::SlotsAre::Capacity || counts_every_host(options, layout))) {
    for (plan::Host& host : list.hosts) host.slots.reset();
  }
  const auto unnamed = [](const plan::Host& host) { return !host.slots; };
  if (std::none_of(list.hosts.begin(), list.hosts.end(), unnamed)) return {};
  Result<std::uint32_t> slots = default_slots(options, layout, list, here);
  if (!slots) return slots.error();
  if (*slots > plan::kMaxSlotsPerHost) slots = plan::kMaxSlotsPerHost;
  for (plan::Host& host : list.hosts) host.slots = host.slots.value_or(*slots);
  return {};
}

}  // namespace sml
