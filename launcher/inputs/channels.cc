#include "launcher/inputs/channels.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "common/core/text.h"

namespace sml {

namespace {

// Absolute, without "." and trailing slashes, so that equal paths compare equal.
std::string whole_path(const std::string& folder, const ThisHost& here) {
  std::string path = (std::filesystem::path(here.process.working_directory) / folder).lexically_normal();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

Result<void> add_channels(plan::LaunchPlan& plan, const Options& options, const ThisHost& here) {
  if (options.channels.empty()) return {};
  const Result<std::vector<std::string>> sharded =
      here.found.sharded_folders ? here.found.sharded_folders() : std::vector<std::string>();
  if (!sharded) return sharded.error();
  for (plan::Channel channel : options.channels) {
    if (here.process.working_directory.empty() && !channel.folder.starts_with('/')) {
      return Error(ErrorKind::Config,
                   fmt::format("--channel {}: the working directory does not exist any more", channel.name));
    }
    channel.folder = whole_path(channel.folder, here);
    const bool twice = channel.mode == plan::ChannelMode::Sharded &&
                       std::find(sharded->begin(), sharded->end(), channel.folder) != sharded->end();
    if (twice) {
      channel.on_hosts = plan::OnHosts::Sharded;
      plan.warnings.push_back(fmt::format(
          "channel {}: the platform has sharded {} over the hosts already; {}", channel.name, show(channel.folder),
          channel.by == plan::ShareBy::Host ? "each has its share as it is" : "the workers of each share what it has"));
    }
    plan.channels.push_back(std::move(channel));
  }
  return {};
}

Result<void> check_channels(const plan::LaunchPlan& plan) {
  for (const plan::Channel& channel : plan.channels) {
    const std::string variable = plan::channel_variables(channel.name).back();
    const auto same = [&](const plan::FifoChannel& other) {
      return plan::channel_variables(other.name).back() == variable;
    };
    const auto found = std::find_if(plan.fifos.begin(), plan.fifos.end(), same);
    if (found == plan.fifos.end()) continue;
    return Error(ErrorKind::Usage,
                 fmt::format("--channel {}: --pipe-fanout {} makes it a channel of FIFOs; it cannot be a folder too",
                             channel.name, found->name));
  }
  return {};
}

}  // namespace sml
