#include "common/plan/channel.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"

namespace sml::plan {

namespace {

using std::string_view;

constexpr std::size_t kLongestChannelName = 64;  // SageMaker's limit

bool valid_name(string_view name) {
  const auto valid = [](char c) { return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_'; };
  return !name.empty() && name.size() <= kLongestChannelName && std::all_of(name.begin(), name.end(), valid) &&
         name != "." && name != "..";
}

// Does not use libfmt: the agent contains this file and must stay small.
Error bad_channel(string_view what, const std::string& expected) {
  return Error(ErrorKind::Usage, "\"" + show(what, 100) + "\" is not " + expected);
}

// A key such as "by=" and its two permitted values.
struct Setting {
  string_view key;
  string_view first;
  string_view second;
};
constexpr Setting kMode{"mode=", "FullyReplicated", "ShardedByS3Key"};
constexpr Setting kBy{"by=", "host", "rank"};
constexpr Setting kOrder{"order=", "modulo", "block"};

// True if the word sets the second value, false if the first; nullopt if the word has another key.
Result<std::optional<bool>> is_second(string_view word, const Setting& setting) {
  if (!word.starts_with(setting.key)) return std::optional<bool>();
  const string_view value = word.substr(setting.key.size());
  if (value == setting.first || value == setting.second) return std::optional(value == setting.second);
  return bad_channel(word, std::string(setting.key) + std::string(setting.first) + " or " + std::string(setting.key) +
                               std::string(setting.second));
}

struct ChannelWords {
  std::optional<bool> sharded;
  std::optional<bool> by_rank;
  std::optional<bool> in_blocks;
};

Result<void> take_setting(string_view word, ChannelWords& words) {
  for (const auto& [setting, to] :
       {std::pair(kMode, &words.sharded), std::pair(kBy, &words.by_rank), std::pair(kOrder, &words.in_blocks)}) {
    const Result<std::optional<bool>> value = is_second(word, setting);
    if (!value) return value.error();
    if (!*value) continue;
    *to = **value;
    return {};
  }
  return bad_channel(word, "mode=, by= or order=, which follow the folder; a folder with a comma cannot be named");
}

}  // namespace

Result<Channel> parse_channel(string_view text) {
  const std::size_t equals = text.find('=');
  const std::size_t comma = std::min(text.find(','), text.size());
  if (equals >= comma) return bad_channel(text, "NAME=DIR");
  Channel channel{.name = std::string(text.substr(0, equals)),
                  .folder = std::string(text.substr(equals + 1, comma - equals - 1))};
  if (!valid_name(channel.name)) {
    return bad_channel(channel.name, "the name of a channel: 1 to " + std::to_string(kLongestChannelName) +
                                         " letters, digits, -, . and _");
  }
  if (channel.folder.empty() || channel.folder.find('\0') != std::string::npos) return bad_channel(text, "NAME=DIR");
  ChannelWords words;
  const std::vector<string_view> parts = split(text, ',');
  for (const string_view word : std::span(parts).subspan(1)) {
    if (Result<void> taken = take_setting(word, words); !taken) return taken.error();
  }
  const bool sharded = words.sharded.value_or(false);
  if (!sharded && (words.by_rank || words.in_blocks)) {
    return bad_channel(text, "meant so: by= and order= are for mode=ShardedByS3Key");
  }
  channel.mode = sharded ? ChannelMode::Sharded : ChannelMode::FullyReplicated;
  channel.by = words.by_rank.value_or(false) ? ShareBy::Rank : ShareBy::Host;
  channel.order = words.in_blocks.value_or(false) ? KeyOrder::Block : KeyOrder::Modulo;
  return channel;
}

std::vector<std::string> channel_variables(string_view name) {
  const std::string variable = "SM_CHANNEL_" + upper(name);
  std::string twin = variable;
  std::replace_if(
      twin.begin(), twin.end(), [](char c) { return !is_letter_or_digit(c); }, '_');
  if (twin == variable) return {variable};
  return {variable, twin};
}

Share share_of(const Channel& channel, const JobMap& map, const RankAssignment& rank) {
  const bool here = channel.on_hosts == OnHosts::Sharded;
  if (channel.mode == ChannelMode::FullyReplicated || rank.part == Part::Helper) return {};
  if (channel.by == ShareBy::Rank && here) return {rank.local_rank.value(), rank.local_size};
  if (channel.by == ShareBy::Rank) return {rank.rank.value(), map.members()};
  if (here) return {};
  return {rank.group_rank, map.member_hosts()};
}

std::vector<std::size_t> keys_of(Share share, KeyOrder order, std::size_t keys) {
  std::vector<std::size_t> out;
  if (order == KeyOrder::Modulo) {
    for (std::size_t i = share.index; i < keys; i += share.count) out.push_back(i);
    return out;
  }
  const std::size_t least = keys / share.count;
  const std::size_t more = keys % share.count;  // the number of shares that have one more
  const std::size_t first = share.index * least + std::min<std::size_t>(share.index, more);
  const std::size_t size = least + (share.index < more ? 1 : 0);
  for (std::size_t i = first; i < first + size; ++i) out.push_back(i);
  return out;
}

std::string unequal_shares(string_view channel, std::uint32_t shares, std::size_t keys) {
  if (keys % shares == 0 && keys > 0) return {};
  const std::size_t least = keys / shares;
  const auto number = [](std::size_t n) { return std::to_string(n); };
  const std::string files = "channel " + show(channel) + " has " + number(keys) + (keys == 1 ? " file" : " files") +
                            " for " + number(shares) + " shares: ";
  const std::size_t empty = shares - keys % shares;
  if (least == 0) return files + number(empty) + (empty == 1 ? " of them is empty" : " of them are empty");
  return files + number(keys % shares) + " of them have " + number(least + 1) + ", the others " + number(least);
}

}  // namespace sml::plan
