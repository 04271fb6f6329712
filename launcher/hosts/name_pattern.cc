#include "launcher/hosts/name_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/core/input_error.h"
#include "common/core/text.h"
#include "common/plan/machine/host.h"
#include "launcher/hosts/fields.h"

namespace sml::hosts {

namespace {

using plan::kMaxHosts;

struct NumberRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::size_t width = 0;
  std::uint64_t count() const { return last - first + 1; }
};

// Either literal text, or ranges of numbers to choose from.
struct NamePart {
  std::string_view text;
  std::vector<NumberRange> ranges;
};

Result<NumberRange> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::string_view first_text = text.substr(0, dash);
  const std::optional<std::uint64_t> first = whole_number(first_text);
  const std::optional<std::uint64_t> last =
      dash == std::string_view::npos ? first : whole_number(text.substr(dash + 1));
  if (!first || !last) return usage_error("has the bad range \"{}\"; expected numbers such as [1-4,7]", show(text, 40));
  if (*last < *first) return usage_error("has a range that runs backwards; write [{}-{}]", *last, *first);
  if (*last - *first >= kMaxHosts) {
    return usage_error("names {} hosts; a job has at most {}", *last - *first + 1, kMaxHosts);
  }
  return NumberRange{*first, *last, first_text.size()};
}

Result<NamePart> parse_choice(std::string_view text) {
  NamePart part;
  for (const std::string_view word : split(text, ',')) {
    Result<NumberRange> range = parse_range(trim(word));
    if (!range) return range.error();
    part.ranges.push_back(*range);
  }
  return part;
}

Result<std::vector<NamePart>> parse_parts(std::string_view name) {
  std::vector<NamePart> parts;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t bracket = std::min(name.find_first_of("[]", at), name.size());
    if (bracket > at) parts.push_back({name.substr(at, bracket - at), {}});
    if (bracket == name.size()) break;
    const std::size_t close = name.find(']', bracket);
    if (name[bracket] == ']' || close == std::string_view::npos || name.find('[', bracket + 1) < close) {
      return usage_error("has brackets that do not match; expected a range such as algo-[1-4]");
    }
    Result<NamePart> choice = parse_choice(name.substr(bracket + 1, close - bracket - 1));
    if (!choice) return choice.error();
    parts.push_back(std::move(*choice));
    at = close + 1;
  }
  return parts;
}

// The number of names that the parts produce, capped at limit + 1 so that it cannot overflow.
std::uint64_t count_names(const std::vector<NamePart>& parts, std::uint64_t limit) {
  std::uint64_t total = 1;
  for (const NamePart& part : parts) {
    std::uint64_t choices = part.ranges.empty() ? 1 : 0;
    for (const NumberRange& range : part.ranges) choices = std::min(choices + range.count(), limit + 1);
    total = std::min(total * choices, limit + 1);
  }
  return total;
}

// All texts that one part can produce.
std::vector<std::string> texts_of(const NamePart& part) {
  if (part.ranges.empty()) return {std::string(part.text)};
  std::vector<std::string> texts;
  for (const NumberRange& range : part.ranges) {
    for (std::uint64_t n = range.first; n <= range.last; ++n) texts.push_back(fmt::format("{:0{}}", n, range.width));
  }
  return texts;
}

// Indices of the parts with ranges, the one that varies fastest first. Literal parts never vary and are left out.
std::vector<std::size_t> by_speed(const std::vector<NamePart>& parts, PatternOrder order) {
  std::vector<std::size_t> brackets;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].ranges.empty()) brackets.push_back(i);
  }
  std::reverse(brackets.begin(), brackets.end());
  if (order == PatternOrder::Slurm && !brackets.empty()) std::reverse(brackets.begin() + 1, brackets.end());
  return brackets;
}

std::vector<std::string> expand(const std::vector<NamePart>& parts, PatternOrder order, std::uint64_t count) {
  std::vector<std::vector<std::string>> texts;
  for (const NamePart& part : parts) texts.push_back(texts_of(part));
  const std::vector<std::size_t> brackets = by_speed(parts, order);
  std::vector<std::size_t> chosen(parts.size(), 0);
  std::vector<std::string> names;
  names.reserve(count);
  while (names.size() < count) {
    std::string& name = names.emplace_back();
    for (std::size_t i = 0; i < parts.size(); ++i) name += texts[i][chosen[i]];
    for (const std::size_t bracket : brackets) {  // like an odometer
      if (++chosen[bracket] < texts[bracket].size()) break;
      chosen[bracket] = 0;
    }
  }
  return names;
}

}  // namespace

Result<std::vector<std::string>> expand_name_pattern(std::string_view pattern, PatternOrder order, std::size_t limit) {
  const bool plain =
      pattern.find('[') == std::string_view::npos && pattern.find(']') == std::string_view::npos;  // the usual case
  if (plain && limit > 0) return std::vector<std::string>{std::string(pattern)};
  const Result<std::vector<NamePart>> parts = parse_parts(pattern);
  if (!parts) return parts.error();
  const std::uint64_t count = count_names(*parts, limit);
  if (count > limit) return usage_error("names too many hosts; a job has at most {}", kMaxHosts);
  return expand(*parts, order, count);
}

}  // namespace sml::hosts
