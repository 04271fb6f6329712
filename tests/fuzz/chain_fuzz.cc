// Any bytes of three sources in any order, at any time: behind folding and collapsing each source still has its own
// lines, once and in order; only states that \r ends may be missing. The first byte of the input chooses the settings,
// those of each step source, size and time.
#include "launcher/output/chain.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/require.h"

using sml::fuzz::require;

namespace {

using namespace sml;
using namespace sml::output;

constexpr std::size_t kSources = 3;

// No tags, no signs of continuation; without `returns` no \r either.
std::string harmless(std::string_view bytes, bool returns) {
  std::string out(bytes);
  std::replace(out.begin(), out.end(), '\x01', '.');
  std::replace(out.begin(), out.end(), '[', '(');
  if (!returns) std::replace(out.begin(), out.end(), '\r', '.');
  return out;
}

// Tags are "\x01RANKS\x02".
std::vector<std::string> take_apart(std::string_view output) {
  std::vector<std::string> out(kSources);
  while (!output.empty()) {
    require(output[0] == '\x01');
    const std::size_t close = output.find('\x02');
    require(close != std::string_view::npos);
    const auto ranks = RankSet::parse(output.substr(1, close - 1), kSources - 1);
    require(ranks.has_value());
    output.remove_prefix(close + 1);
    const std::string_view line = output.substr(0, output.find('\x01'));
    output.remove_prefix(line.size());
    for (std::uint32_t rank = 0; rank < kSources; ++rank) {
      if (ranks->contains(rank)) out[rank] += line;
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.empty()) return 0;
  const bool collapse = (input[0] & 1) != 0;
  Chain::Settings settings{.limits = {kSources - 1, 0},
                           .progress = collapse ? Chain::Progress::Collapse : Chain::Progress::Pass,
                           .equal = (input[0] & 2) != 0 ? Chain::Equal::Fold : Chain::Equal::Pass};
  settings.tag = *TagTemplate::parse("\x01{rank}\x02");
  input.remove_prefix(1);
  Chain chain(settings);
  for (std::uint32_t rank = 0; rank < kSources; ++rank) {
    TagSubject subject{.ranks = {}, .local_ranks = {}, .hosts = {"h"}};
    subject.ranks.add(rank);
    subject.local_ranks.add(0);
    chain.add_source(subject);
  }
  std::vector<std::string> written(kSources);
  TimePoint now{std::chrono::hours(1)};
  while (input.size() >= 2) {
    const auto choice = static_cast<unsigned char>(input[0]);
    const std::size_t wanted = static_cast<unsigned char>(input[1]);
    input.remove_prefix(2);
    const auto source = static_cast<Chain::Source>(choice % kSources);
    const std::string piece = harmless(input.substr(0, std::min(wanted, input.size())), !collapse);
    input.remove_prefix(piece.size());
    chain.add(source, piece, {now, WallTime()});
    written[source] += piece;
    now += std::chrono::milliseconds(choice);
    if ((choice & 8) != 0) chain.on_time(now);
  }
  chain.finish_all();
  std::string output = std::move(chain.output());
  const std::vector<std::string> read = take_apart(output);
  for (std::size_t i = 0; i < kSources; ++i) {  // a last line may have been completed
    const bool ended = written[i].empty() || written[i].back() == '\n' || written[i].back() == '\r';
    require(read[i] == written[i] || (!ended && read[i] == written[i] + '\n'));
  }
  return 0;
}
