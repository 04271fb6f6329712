// Any text: a list of ranks is refused, or reads back as the same set.
#include "common/core/rank_set.h"

#include <cstdint>

#include "tests/fuzz/require.h"

using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint32_t kLargest = 1'000'000;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto set = sml::RankSet::parse(text, kLargest);
  if (!set) {
    require(set.error().kind() == sml::ErrorKind::Usage);
    return 0;
  }
  require(!set->empty() && set->largest() <= kLargest && set->contains(set->largest()));
  const auto again = sml::RankSet::parse(set->text(), kLargest);
  require(again.has_value() && *again == *set);
  return 0;
}
