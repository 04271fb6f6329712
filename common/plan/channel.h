// Channels: folders of data of which each host or worker gets its share. Pure.
//
// Each file of a folder is a key, named by its path below the folder; keys are sorted byte by byte. With n shares,
// share i has the keys whose position is i modulo n (Modulo), or a block of consecutive keys, where the first shares
// have one more if the shares cannot be equal (Block). SageMaker does not publish how it deals keys itself; it
// documents only that shares differ by at most one key (developer guide, "S3DataSource", ShardedByS3Key).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/ranks/job_map.h"

namespace sml::plan {

enum class ChannelMode : std::uint8_t { FullyReplicated, Sharded };
enum class ShareBy : std::uint8_t { Host, Rank };
enum class KeyOrder : std::uint8_t { Modulo, Block };
// Sharded: the folder of each host holds only its own share of the keys.
enum class OnHosts : std::uint8_t { Alike, Sharded };

struct Channel {
  std::string name;
  std::string folder;
  ChannelMode mode = ChannelMode::FullyReplicated;
  ShareBy by = ShareBy::Host;
  KeyOrder order = KeyOrder::Modulo;
  OnHosts on_hosts = OnHosts::Alike;
  bool operator==(const Channel&) const = default;
};

// Parses "NAME=DIR[,mode=FullyReplicated|ShardedByS3Key][,by=host|rank][,order=modulo|block]". Errors (Usage) quote the
// part that is wrong.
Result<Channel> parse_channel(std::string_view text);

// "SM_CHANNEL_TRAIN": the names of the variables that hold the folder. A second name, usable in shells, is added if the
// first has characters that a shell variable may not have.
std::vector<std::string> channel_variables(std::string_view name);

// Share `index` of `count`; 0 of 1 is the whole folder.
struct Share {
  std::uint32_t index = 0;
  std::uint32_t count = 1;
  void fields(auto& a) { a(index, count); }
  bool operator==(const Share&) const = default;
};
// The share of one worker: the whole folder if the channel is fully replicated, and for helpers. If the folder is
// already sharded over the hosts (OnHosts::Sharded), it is dealt only among the workers of its host.
Share share_of(const Channel& channel, const JobMap& map, const RankAssignment& rank);

// A channel on one host.
struct HostChannel {
  std::string name;
  std::string folder;
  KeyOrder order = KeyOrder::Modulo;
  std::vector<Share> shares;  // of the host's workers, in their order
  void fields(auto& a) { a(name, folder, order, shares); }
};

// The positions of the keys of a share, whose count is not 0, ascending. `keys`: the number of all keys of the folder.
std::vector<std::size_t> keys_of(Share share, KeyOrder order, std::size_t keys);

// Returns a warning about shares of unequal size or without a key, as a part of a sentence; empty if there are none.
std::string unequal_shares(std::string_view channel, std::uint32_t shares, std::size_t keys);

}  // namespace sml::plan
