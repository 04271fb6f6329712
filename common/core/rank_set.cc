#include "common/core/rank_set.h"

#include <algorithm>
#include <optional>

#include "common/core/text.h"

namespace sml {

namespace {

std::optional<std::uint32_t> number(std::string_view text, std::uint32_t largest) {
  const auto value = parse_number<std::uint32_t>(text);
  return value && *value <= largest ? value : std::nullopt;
}

std::string padded(std::uint32_t number, std::size_t width) {
  std::string digits = std::to_string(number);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

}  // namespace

Result<RankSet> RankSet::parse(std::string_view text, std::uint32_t largest) {
  RankSet out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::string_view item = text.substr(at, text.find(',', at) - at);
    const std::size_t dash = item.find('-');
    const auto first = number(item.substr(0, dash), largest);
    const auto last = dash == std::string_view::npos ? first : number(item.substr(dash + 1), largest);
    if (!first || !last || *first > *last) {
      return Error(ErrorKind::Usage, "\"" + show(text, 80) + "\" is not a list of ranks such as 0,8-15 (column " +
                                         std::to_string(at + 1) + ": \"" + show(item, 40) + "\")");
    }
    out.add(*first, *last);
    at += item.size() + 1;
  }
  return out;
}

void RankSet::add(std::uint32_t first, std::uint32_t last) {
  // Merge all ranges that overlap the new one or are adjacent to it.
  const auto begin = std::find_if(ranges_.begin(), ranges_.end(),
                                  [first](const Range& r) { return std::uint64_t{r.last} + 1 >= first; });
  const auto end =
      std::find_if(begin, ranges_.end(), [last](const Range& r) { return r.first > std::uint64_t{last} + 1; });
  if (begin != end) {
    first = std::min(first, begin->first);
    last = std::max(last, (end - 1)->last);
  }
  ranges_.insert(ranges_.erase(begin, end), Range{first, last});
}

bool RankSet::contains(std::uint32_t rank) const {
  const auto range = std::lower_bound(ranges_.begin(), ranges_.end(), rank,
                                      [](const Range& r, std::uint32_t value) { return r.last < value; });
  return range != ranges_.end() && range->first <= rank;
}

std::size_t RankSet::size() const {
  std::size_t out = 0;
  for (const Range& range : ranges_) out += std::size_t{range.last} - range.first + 1;
  return out;
}

std::string RankSet::text(std::size_t width) const {
  std::string out;
  for (const Range& range : ranges_) {
    if (!out.empty()) out += ',';
    out += padded(range.first, width);
    if (range.last != range.first) out += "-" + padded(range.last, width);
  }
  return out;
}

}  // namespace sml
