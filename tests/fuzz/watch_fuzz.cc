// Any text as a rule of --watch, and any bytes as the output of two ranks: what is taken has a limit, and whether a
// rank is late does not depend on the pieces in which its output comes. The first line of the input is the rule.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "launcher/report/live/line_watch.h"
#include "tests/fuzz/require.h"

using sml::fuzz::require;

namespace {

using namespace sml;
using namespace sml::report;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view text = input.substr(0, input.find('\n'));
  const Result<WatchRule> rule = WatchRule::parse(text, 999);
  if (!rule) {
    require(!rule.error().message().empty());
    return 0;
  }
  LineWatch pieces(*rule, 2);
  LineWatch whole(*rule, 2);
  const TimePoint start{std::chrono::hours(1)};
  const TimePoint later = start + std::chrono::milliseconds(50);
  for (LineWatch* watch : {&pieces, &whole}) {
    for (const std::uint32_t rank : {0U, 1U}) watch->started(Rank(rank), start);
  }
  std::string_view output = input.substr(std::min(text.size() + 1, input.size()));
  if (output.empty()) return 0;
  const std::size_t step = 1 + static_cast<unsigned char>(output[0]) % 16;
  whole.add(Rank(0), Stream::Stdout, output, later);
  for (; !output.empty(); output.remove_prefix(std::min(step, output.size()))) {
    pieces.add(Rank(0), Stream::Stdout, output.substr(0, step), later);
  }
  const TimePoint end = start + std::chrono::hours(24 * 365 * 2);
  const auto one = pieces.on_time(end);
  const auto other = whole.on_time(end);
  require(one.has_value() == other.has_value());
  require(rule->has_limit() || !one);  // it is for the sign of progress alone
  if (one) require(one->ranks == other->ranks && one->limit == other->limit);
  return 0;
}
