#include "launcher/fleet/make_launcher.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/os/spawn.h"
#include "common/plan/environment/kept_back.h"
#include "common/plan/environment/worker_env.h"
#include "launcher/dialin/coordinator/incoming_launcher.h"
#include "launcher/dialin/step/step_launcher.h"
#include "launcher/starters/starters.h"
#include "launcher/transport/command_launcher.h"
#include "launcher/transport/ssh/ssh_launcher.h"
#include "launcher/transport/starter_launcher.h"

namespace sml::fleet {

namespace {

// The environment of a starter's tool, which may pass it on. With --export none that is what a login would have, and
// what the batch system has set.
std::vector<std::string> environment_for_tool(plan::ExportPolicy policy) {
  constexpr std::array<std::string_view, 12> kNames{"PATH",   "LANG",  "TZ",  "ARC",   "JOB_*", "PE_*",
                                                    "SLURM*", "SGE_*", "LS*", "FLUX*", "OAR*",  "KUBE*"};
  std::vector<std::string> all = os::own_environment();
  if (policy == plan::ExportPolicy::All) return all;
  std::erase_if(all, [&kNames](const std::string& entry) {
    const std::string_view name = plan::name_of(entry);
    return !plan::bound_to_host(name) && !starters::stands_for(kNames, name);
  });
  return all;
}

// The input of a way to make an agent launcher.
struct LauncherInput {
  const boost::asio::any_io_executor& loop;
  const transport::AgentImage& image;
  const plan::LaunchPlan& plan;
  transport::RemoteShellLauncher::Hosts hosts;
  const SshOptions& options;
};

using MadeLauncher = std::unique_ptr<transport::AgentLauncher>;

MadeLauncher make_for_ssh(LauncherInput in) {
  return std::make_unique<ssh::SshLauncher>(in.loop, in.image, std::move(in.hosts), in.options);
}

MadeLauncher make_for_command(LauncherInput in) {
  return std::make_unique<transport::CommandLauncher>(in.loop, in.image, std::move(in.hosts), in.options.command);
}

MadeLauncher make_for_starter(LauncherInput in) {
  const starters::Starter& starter = *starters::find_starter(in.plan.start.by);
  std::vector<std::string> environment = environment_for_tool(in.plan.export_policy);
  if (agents_call(starter, in.hosts.list.size())) {
    return std::make_unique<dialin::StepLauncher>(in.loop, in.image, std::move(in.hosts), starter,
                                                  std::move(environment));
  }
  return std::make_unique<transport::StarterLauncher>(in.loop, in.image, std::move(in.hosts), starter,
                                                      std::move(environment));
}

struct LauncherRow {
  std::string_view way;  // its name in starters::kWays
  std::uint32_t descriptors_per_host;
  MadeLauncher (*make)(LauncherInput);
};

constexpr LauncherRow kForSsh{starters::kSsh, 2, make_for_ssh};
constexpr LauncherRow kForCommand{"", 3, make_for_command};  // --ssh-command
constexpr LauncherRow kForStarter{"", 3, make_for_starter};  // all starters
constexpr std::array kForWays{kForSsh};

constexpr bool is_same_way(const LauncherRow& row, const starters::Way& way) { return row.way == way.name; }
static_assert(std::equal(kForWays.begin(), kForWays.end(), starters::kWays.begin(), starters::kWays.end(), is_same_way),
              "each way has its row, in the same order");

// Where the plan names no way, hosts that come later are reached by SSH; of hosts that call each takes as many
// descriptors.
const LauncherRow& row_for(const plan::LaunchPlan& plan, const SshOptions& options) {
  if (!options.command.empty()) return kForCommand;
  if (starters::find_starter(plan.start.by) != nullptr) return kForStarter;
  const auto* found = std::find_if(kForWays.begin(), kForWays.end(),
                                   [&plan](const LauncherRow& row) { return row.way == plan.start.by; });
  return found == kForWays.end() ? kForSsh : *found;
}

}  // namespace

std::unique_ptr<transport::AgentLauncher> make_launcher(const boost::asio::any_io_executor& loop,
                                                        const transport::AgentImage& image,
                                                        const plan::LaunchPlan& plan, const std::string& own_name,
                                                        const SshOptions& options,
                                                        std::optional<dialin::CoordinatorPlan> calls) {
  if (calls) {
    return std::make_unique<dialin::IncomingLauncher>(loop, image, std::move(*calls), plan.launcher_environment,
                                                      options.fanout);
  }
  transport::RemoteShellLauncher::Hosts hosts{
      .list = {}, .own_name = own_name, .user = options.user, .fanout = options.fanout};
  for (const plan::MappedHost& mapped : plan.map.hosts) hosts.list.push_back(mapped.host);
  return row_for(plan, options).make({loop, image, plan, std::move(hosts), options});
}

std::uint32_t descriptors_per_host(const plan::LaunchPlan& plan, const SshOptions& options) {
  return row_for(plan, options).descriptors_per_host;
}

}  // namespace sml::fleet
