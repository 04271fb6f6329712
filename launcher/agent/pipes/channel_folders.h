// Makes the shares of channels (folders of data files, see common/plan/channel.h) on this host, as folders of symbolic
// links.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/channel.h"
#include "common/plan/environment/worker_env.h"

namespace sml::agent {

struct ChannelFolders {
  std::vector<plan::Environment> variables;  // by worker, in the order of HostChannel::shares
  std::vector<std::string> warnings;         // for the user: about shares of unequal size
};

// Makes a folder below `top` for each share that a worker on this host has, with a symbolic link for each of its files,
// in the same subfolders as in the channel. `top` must exist, unless it is empty. For a share that is the whole
// channel, uses the channel's own folder and makes none. Errors (Config): the channel's folder is missing or unreadable
// or has too many files; `top` is empty or cannot be written to.
Result<ChannelFolders> make_channel_folders(std::span<const plan::HostChannel> channels, std::size_t workers,
                                            const std::string& top);

// The paths of the files below a folder, relative to it and sorted by bytes. A symbolic link counts as a file, whatever
// it points to. Error (Config): a folder is unreadable, or there are too many files or levels of folders.
Result<std::vector<std::string>> keys_below(const std::string& folder);

}  // namespace sml::agent
