// What the programs call of the system by a function of ours, in the place of the file that has the real one.
#include <memory>

#include "launcher/fleet/ways.h"
#include "tests/simulation/job.h"

namespace sml::fleet {

std::unique_ptr<launch::Reach> make_reach(const boost::asio::any_io_executor& loop, const launch::AgentImage&,
                                          const plan::LaunchPlan&, const SshOptions&, std::optional<dialin::HeadPlan>) {
  return sim::job->make_reach(loop);
}

}  // namespace sml::fleet
