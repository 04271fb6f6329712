#include "launcher/start/show_plan.h"

#include <cstdint>
#include <vector>

#include <unistd.h>

#include "common/core/text.h"
#include "common/os/fd.h"
#include "launcher/start/refusal.h"
#include "launcher/starters/starters.h"

namespace sml {

namespace {

int show_environment(const Options& options, const plan::LaunchPlan& plan) {
  const std::uint32_t rank = *options.show_env;
  if (rank >= plan.map.world_size()) {
    return refuse(Error(ErrorKind::Usage, "--show-env: there is no rank " + std::to_string(rank) + "; the last is " +
                                              std::to_string(plan.map.world_size() - 1)));
  }
  const plan::RankAssignment& assignment = plan.map.ranks[rank];
  std::vector<std::string> names;  // used as addresses
  for (const plan::MappedHost& host : plan.map.hosts) names.push_back(host.host.name);
  const std::vector<plan::PresetPort> ports = plan::preset_ports(plan.presets, plan.map);
  const plan::Environment preset =
      plan::preset_environment(plan.presets, plan.map, assignment, plan.job, {names, ports, plan.launcher_environment});
  const plan::Environment shown = plan::shown_environment(
      plan.map, assignment, plan.job, plan.program(assignment.program).user_environment, plan.torch_store, preset);
  if (*options.dry_run == PlanFormat::Json) {
    return os::write_all(STDOUT_FILENO, plan::environment_to_json(shown) + "\n") ? 0 : 1;
  }
  std::string text;
  for (const std::string& entry : shown) text += show(entry, 4096) + "\n";
  return os::write_all(STDOUT_FILENO, text) ? 0 : 1;
}

}  // namespace

std::string one_line_about(const plan::LaunchPlan& plan) {
  const std::uint32_t ranks = plan.map.world_size();
  const std::uint32_t hosts = plan.map.group_world_size();
  const std::size_t spares = plan.map.spares();
  const std::string beside = spares == 0 ? "" : ", " + std::to_string(spares) + (spares == 1 ? " spare" : " spares");
  return std::to_string(ranks) + (ranks == 1 ? " rank on " : " ranks on ") + std::to_string(hosts) +
         (hosts == 1 ? " host" : " hosts") + beside + ", from " + plan.host_source;
}

std::string line_about_start(const plan::LaunchPlan& plan, const Options& options) {
  if (plan.start.by.empty()) return {};
  const std::vector<std::string>& command = options.ssh.command;
  const std::string by = command.empty() ? starters::way_in_words(plan.start.by) : command.front();
  return "the other hosts are reached by " + by + ", as " + plan.start.because;
}

std::optional<int> show_plan(const Options& options, const plan::LaunchPlan& plan) {
  if (options.show_env) return show_environment(options, plan);
  if (options.dry_run) {
    const bool json = *options.dry_run == PlanFormat::Json;
    return os::write_all(STDOUT_FILENO, json ? to_json(plan) + "\n" : to_table(plan)) ? 0 : 1;
  }
  if (options.display_map) os::write_all(STDERR_FILENO, to_table(plan));
  return std::nullopt;
}

}  // namespace sml
