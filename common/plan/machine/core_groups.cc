#include "common/plan/machine/core_groups.h"

#include <string>
#include <utility>

#include "common/core/text.h"
#include "common/plan/machine/host.h"

namespace sml::plan {

namespace {

constexpr std::uint32_t kMaxCore = kMaxSlotsPerHost - 1;

Result<CoreRange> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = parse_index(text.substr(0, dash), kMaxCore);
  const auto last = dash == std::string_view::npos ? first : parse_index(text.substr(dash + 1), kMaxCore);
  if (!first || !last) {
    return Error(ErrorKind::Usage, "has \"" + show(text, 40) + "\" for a core; expected numbers from 0, as in 0-3,6");
  }
  if (*last < *first) return Error(ErrorKind::Usage, "has the range " + show(text, 40) + " that ends before it begins");
  return CoreRange{*first, *last};
}

Result<CoreGroup> parse_group(std::string_view text) {
  CoreGroup group;
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    group.socket = parse_index(text.substr(0, colon), kMaxCore);
    if (!group.socket) {
      const bool physical = text.front() == 'p' || text.front() == 'P';
      return Error(ErrorKind::Usage,
                   "has \"" + show(text.substr(0, colon), 40) + "\" for a socket; expected " +
                       (physical ? "a logical number, without \"p\"" : "a number from 0, as in 0:0-3"));
    }
    text.remove_prefix(colon + 1);
  }
  if (text == "*") return group;
  for (const std::string_view word : split(text, ',')) {
    const Result<CoreRange> range = parse_range(word);
    if (!range) return range.error();
    group.cores.push_back(*range);
  }
  return group;
}

}  // namespace

std::optional<std::uint32_t> parse_index(std::string_view text, std::uint32_t most) {
  const auto value = parse_number<std::uint32_t>(text);
  return value && *value <= most ? value : std::nullopt;
}

Result<std::vector<CoreGroup>> parse_core_groups(std::string_view text) {
  if (text.empty())
    return Error(ErrorKind::Usage, "names no core; expected cores such as 0-3, or socket and cores such as 0:0-3");
  std::vector<CoreGroup> groups;
  for (const std::string_view word : split(text, ';')) {
    Result<CoreGroup> group = parse_group(word);
    if (!group) return group.error();
    groups.push_back(std::move(*group));
  }
  return groups;
}

}  // namespace sml::plan
