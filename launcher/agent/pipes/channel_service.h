// Gives each worker its shares of channels of files: variables that name folders of symbolic links.
#pragma once
#include <span>
#include <unordered_map>
#include <vector>

#include "common/plan/channel.h"
#include "launcher/agent/core/host_service.h"

namespace sml::agent {

class ChannelService final : public HostService {
 public:
  // `workers` is in the order of the shares in `channels`.
  ChannelService(const ServiceContext& context, std::vector<plan::HostChannel> channels, std::vector<Rank> workers);
  // Makes the folders of links (make_channel_folders()).
  Result<void> check(wire::Prepared& answer) override;
  plan::Environment variables(Rank rank) const override;

 private:
  const ServiceContext& context_;
  std::vector<plan::HostChannel> channels_;
  std::vector<Rank> workers_;
  std::unordered_map<Rank, plan::Environment> variables_;
};

}  // namespace sml::agent
