// Any text as a channel: refused with one line, or it reads back as the same; and its keys are dealt, each once.
#include "common/plan/channel.h"

#include <cstdint>

#include "tests/fuzz/require.h"

using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sml::plan;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto channel = parse_channel(text);
  if (channel.has_error()) {
    require(channel.error().kind() == sml::ErrorKind::Usage);
    require(channel.error().message().find('\n') == std::string::npos && channel.error().message().size() < 300);
    return 0;
  }
  std::string again = channel->name + "=" + channel->folder;
  if (channel->mode == ChannelMode::Sharded) {
    again += ",mode=ShardedByS3Key";
    again += channel->by == ShareBy::Rank ? ",by=rank" : ",by=host";
    again += channel->order == KeyOrder::Block ? ",order=block" : ",order=modulo";
  }
  const auto reread = parse_channel(again);
  require(reread.has_value() && *reread == *channel);
  for (const std::string& name : channel_variables(channel->name)) require(name.find('=') == std::string::npos);
  const auto shares = static_cast<std::uint32_t>(1 + size % 7);
  std::size_t keys = 0;
  for (std::uint32_t i = 0; i < shares; ++i) keys += keys_of({i, shares}, channel->order, size).size();
  require(keys == size);
  return 0;
}
