#include "launcher/agent/pipes/channel_service.h"

#include <utility>

#include "launcher/agent/pipes/channel_folders.h"

namespace sml::agent {

ChannelService::ChannelService(const ServiceContext& context, std::vector<plan::HostChannel> channels,
                               std::vector<Rank> workers)
    : context_(context), channels_(std::move(channels)), workers_(std::move(workers)) {}

Result<void> ChannelService::check(wire::Prepared& answer) {
  Result<ChannelFolders> made = make_channel_folders(channels_, workers_.size(), context_.system.scratch.path());
  if (!made) return made.error();
  for (std::size_t i = 0; i < workers_.size(); ++i) variables_[workers_[i]] = std::move(made->variables[i]);
  answer.warnings.insert(answer.warnings.end(), made->warnings.begin(), made->warnings.end());
  return {};
}

plan::Environment ChannelService::variables(Rank rank) const {
  const auto found = variables_.find(rank);
  return found == variables_.end() ? plan::Environment() : found->second;
}

}  // namespace sml::agent
