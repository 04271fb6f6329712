// The shares of channels on this host, as folders of links.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/channel.h"
#include "common/plan/worker_env.h"

namespace sml::agent {

struct ChannelFolders {
  std::vector<plan::Environment> variables;  // of the workers, as HostChannel::shares has them
  std::vector<std::string> warnings;         // clauses
};

// Makes below `top`, which exists, a folder for each share of a worker here, with a link for each of its files, and
// folders as the files have them. A share that is the whole is the channel's own folder. Errors (Config): no such
// folder, one that cannot be read, too many files; `top` is empty, or cannot be written to.
Result<ChannelFolders> make_channel_folders(std::span<const plan::HostChannel> channels, std::size_t workers,
                                            const std::string& top);

// The paths of the files below a folder, sorted byte by byte. Links are files, wherever they lead.
Result<std::vector<std::string>> keys_below(const std::string& folder);

}  // namespace sml::agent
