#include "launcher/run/log_paths.h"

namespace sml::run {

Result<LogPaths> LogPaths::make(const std::string& directory, const std::string& layout, const plan::LaunchPlan& plan) {
  Result<output::LogLayout> parsed = output::LogLayout::parse(layout);
  if (!parsed) return parsed.error();
  const bool absolute = directory.starts_with('/');
  return LogPaths(std::move(*parsed), (absolute ? "" : plan.working_directory + "/") + directory + "/", plan);
}

std::string LogPaths::of(const plan::RankAssignment& rank, Stream stream) const {
  const output::LogLayout::Place place{.rank = rank.rank,
                                       .local_rank = rank.local_rank,
                                       .host = plan_.map.hosts[rank.host.value()].host.name,
                                       .job = plan_.job.job_id,
                                       .restart = plan_.job.attempt,
                                       .stream = stream,
                                       .world_size = plan_.map.world_size()};
  return folder_ + layout_.path(place);
}

}  // namespace sml::run
