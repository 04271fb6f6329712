// Channels: folders of data of which each host or worker gets its share. Pure.
//
// The files of a folder are keys, by their paths below it, sorted byte by byte. Of n shares, share i has the keys whose
// place is i modulo n; or a block of consecutive ones, where the first shares have one more if they cannot be equal.
// How SageMaker itself deals keys is not published; that shares differ by one at most is (developer guide,
// "S3DataSource", ShardedByS3Key).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/job_map.h"

namespace sml::plan {

enum class ChannelMode : std::uint8_t { FullyReplicated, Sharded };
enum class ShareBy : std::uint8_t { Host, Rank };
enum class KeyOrder : std::uint8_t { Modulo, Block };
// Sharded: each host has its share of the keys in its folder, and nothing else.
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

// "NAME=DIR[,mode=FullyReplicated|ShardedByS3Key][,by=host|rank][,order=modulo|block]". Errors (Usage) quote what is
// wrong.
Result<Channel> parse_channel(std::string_view text);

// "SM_CHANNEL_TRAIN": what leads workers to the folder, with a twin for shells where the name has other characters
// than a variable may have.
std::vector<std::string> channel_variables(std::string_view name);

// Which of how many shares; one of one is the folder itself.
struct Share {
  std::uint32_t index = 0;
  std::uint32_t count = 1;
  void fields(auto& a) { a(index, count); }
  bool operator==(const Share&) const = default;
};
// What is sharded over the hosts already is dealt to the workers of each host only.
Share share_of(const Channel& channel, const JobMap& map, const RankAssignment& rank);

// A channel on one host.
struct HostChannel {
  std::string name;
  std::string folder;
  KeyOrder order = KeyOrder::Modulo;
  std::vector<Share> shares;  // of its workers
  void fields(auto& a) { a(name, folder, order, shares); }
};

// The places of the keys of a share, ascending.
std::vector<std::size_t> keys_of(Share share, KeyOrder order, std::size_t keys);

// A clause for the user; empty: all shares are equal.
std::string unequal_shares(std::string_view channel, std::uint32_t shares, std::size_t keys);

}  // namespace sml::plan
