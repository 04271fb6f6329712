#include "launcher/attempt/dynamic/dynamic_plans.h"

#include <algorithm>
#include <string>
#include <utility>

#include "launcher/attempt/session_parts.h"

namespace sml::attempt {

std::vector<plan::Program> spawned_programs(const plan::LaunchPlan& plan, Rank asks,
                                            const std::vector<plan::SpawnProgram>& programs) {
  const plan::Program& own = plan.program(plan.map.ranks[asks.value()].program);
  std::vector<plan::Program> out;
  for (const plan::SpawnProgram& wanted : programs) {
    plan::Program& program = out.emplace_back(own);
    program.command = wanted.command;
    program.search_path = wanted.search_path;
    program.local_rank_at = 0;
    const std::string& folder = wanted.working_directory;
    if (folder.empty()) continue;
    program.working_directory = folder.starts_with('/') ? folder : own.working_directory + "/" + folder;
  }
  return out;
}

AddedWorld added_world(const plan::LaunchPlan& plan, const plan::JobMap& world, const SessionSettings& settings,
                       const std::function<std::optional<AgentPlace>(HostIndex)>& place) {
  const std::uint32_t first = plan.map.world_size() - world.world_size();
  plan::JobShape shape = plan::shape_of(world);
  shape.universe = std::max(plan::shape_of(plan.map).universe, shape.size());  // of the job
  if (plan.slot_limit == plan::LaunchPlan::SlotLimit::None) shape.universe = 0;
  AddedWorld out;
  for (std::uint32_t h = 0; h < world.hosts.size(); ++h) {
    plan::MappedHost host = world.hosts[h];
    const std::optional<AgentPlace> where = place(HostIndex(h));
    if (host.ranks.empty() && !where) continue;
    wire::AddWorkers message{.attempt = plan.job.attempt + 1,
                             .service = wire::WireUp::Pmi,
                             .first = Rank(first),
                             .apps = {},
                             .workers = {},
                             .shape = shape,
                             .keys = {}};
    for (Rank& rank : host.ranks) rank = Rank(rank.value() + first);
    message.apps = apps_of(programs_of(host, plan.map), plan, where.value_or(AgentPlace::Remote));
    message.workers = workers_of(host, plan, settings);
    for (wire::Worker& worker : message.workers) {  // its place in its own world
      worker.stdin_source = wire::StdinSource::Null;
      const plan::RankAssignment& own = world.ranks[worker.rank.value() - first];
      worker.environment = plan::rank_environment(world, own, plan.job);
    }
    wire::pack_environments(message.apps, message.workers);
    out.hosts.emplace_back(h);
    out.messages.push_back(std::move(message));
  }
  return out;
}

transport::AgentSession::Plan late_plan(HostIndex index, const plan::LaunchPlan& plan, Rank first,
                                        const SessionSettings& settings, wire::WireUp service) {
  const plan::MappedHost& host = plan.map.hosts[index.value()];
  wire::Prepare prepare = common_prepare(plan, settings);
  prepare.binding = plan.binding;
  prepare.usage = settings.usage;
  prepare.mpi.pmi_mode = plan.mpi;
  prepare.mpi.shape = plan::shape_of(plan.map);
  prepare.mpi.host = static_cast<std::uint32_t>(prepare.mpi.shape.hosts.size()) + index.value();
  prepare.mpi.pmix_library = plan.pmix_library;
  prepare.mpi.name_space = plan.job.name_space;
  prepare.mpi.late = {wire::Workers::Spawned, service, plan.job.job_id, host.host.name};
  return session_for(host, plan, settings, prepare, programs_of(host, plan.map, first));
}

transport::AgentSession::Plan joining_plan(HostIndex index, const plan::LaunchPlan& plan, const plan::JobMap& world,
                                           const SessionSettings& settings) {
  const std::uint32_t first = plan.map.world_size() - world.world_size();
  plan::MappedHost host = plan.map.hosts[index.value()];
  std::erase_if(host.ranks, [first](Rank rank) { return rank.value() < first; });
  wire::Prepare prepare =
      working_prepare(common_prepare(plan, settings), host, plan, plan::shape_of(plan.map), settings);
  for (wire::Worker& worker : prepare.workers) {
    worker.stdin_source = wire::StdinSource::Null;
    worker.local_rank = world.ranks[worker.rank.value() - first].local_rank;
  }
  return session_for(host, plan, settings, prepare, programs_of(host, plan.map));
}

}  // namespace sml::attempt
