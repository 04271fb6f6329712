#include "launcher/output/stream_routes.h"

#include <algorithm>

#include "common/core/text.h"

namespace sml::output {

namespace {

constexpr std::uint32_t kMost = 3;

std::optional<std::uint32_t> number(std::string_view text, std::uint32_t most) {
  const auto value = parse_number<std::uint32_t>(text);
  return value && *value <= most ? value : std::nullopt;
}

}  // namespace

Result<StreamChoice> StreamChoice::parse(std::string_view text) {
  StreamChoice out;
  if (const auto all = number(text, kMost)) {
    out.of_all_ = *all;
    return out;
  }
  for (const std::string_view word : split(text, ',')) {
    const std::size_t colon = std::min(word.find(':'), word.size());
    const auto local_rank = number(word.substr(0, colon), UINT32_MAX);
    const auto streams = number(word.substr(std::min(colon + 1, word.size())), kMost);
    if (!local_rank || !streams) {
      return Error(ErrorKind::Usage, "\"" + show(text, 80) +
                                         "\" is not 0 for no stream, 1 for stdout, 2 for stderr or 3 for both, nor a "
                                         "list of these by local rank such as 0:3,1:1");
    }
    out.by_local_rank_[*local_rank] = *streams;
  }
  return out;
}

bool StreamChoice::has(LocalRank local_rank, Stream stream) const {
  const auto named = by_local_rank_.find(local_rank.value());
  const std::uint32_t streams = named == by_local_rank_.end() ? of_all_ : named->second;
  return (streams & (stream == Stream::Stdout ? 1U : 2U)) != 0;
}

bool StreamRoutes::to_output(LocalRank local_rank, Stream stream) const {
  const bool away = redirected && redirected->has(local_rank, stream);
  return !away || teed_is(local_rank, stream);
}

bool StreamRoutes::to_file(LocalRank local_rank, Stream stream) const {
  if (!redirected && !teed) return true;
  return (redirected && redirected->has(local_rank, stream)) || teed_is(local_rank, stream);
}

}  // namespace sml::output
