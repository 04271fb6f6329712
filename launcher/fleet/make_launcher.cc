#include "launcher/fleet/make_launcher.h"

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
  if (!options.command.empty()) {
    return std::make_unique<transport::CommandLauncher>(loop, image, std::move(hosts), options.command);
  }
  if (const starters::Starter* starter = starters::find_starter(plan.start.by)) {
    if (agents_call(*starter, hosts.list.size())) {
      return std::make_unique<dialin::StepLauncher>(loop, image, std::move(hosts), *starter,
                                                    environment_for_tool(plan.export_policy));
    }
    return std::make_unique<transport::StarterLauncher>(loop, image, std::move(hosts), *starter,
                                                        environment_for_tool(plan.export_policy));
  }
  return std::make_unique<ssh::SshLauncher>(loop, image, std::move(hosts), options);
}

}  // namespace sml::fleet
