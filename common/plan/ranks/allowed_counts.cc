#include "common/plan/ranks/allowed_counts.h"

#include <algorithm>
#include <utility>

#include "common/core/text.h"

namespace sml::plan {

namespace {

constexpr std::int64_t kMost = 1'000'000'000;

std::optional<std::int64_t> parse_bound(std::string_view text) {
  const auto value = parse_number<std::int64_t>(trim(text, " "));
  return value && *value <= kMost && *value >= -kMost ? value : std::nullopt;
}

// Returns the range in rising order; nullopt: the triplet is none. A range without a number above 0 has `last` 0.
std::optional<CountRange> parse_triplet(std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (const std::string_view part : split(text, ':')) {
    const std::optional<std::int64_t> number = parse_bound(part);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.empty() || numbers.size() > 3) return std::nullopt;
  std::int64_t first = numbers[0];
  std::int64_t last = numbers.size() > 1 ? numbers[1] : first;
  const std::int64_t step = numbers.size() > 2 ? numbers[2] : 1;
  if (step == 0 || (step > 0 && first > last) || (step < 0 && first < last)) return std::nullopt;
  last = first + (last - first) / step * step;
  if (step < 0) std::swap(first, last);
  const std::int64_t rise = step < 0 ? -step : step;
  if (first < 1) first += (-first / rise + 1) * rise;
  if (first > last) return CountRange{};
  return CountRange{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last),
                    static_cast<std::uint32_t>(rise)};
}

}  // namespace

std::optional<std::vector<CountRange>> parse_allowed_counts(std::string_view text) {
  std::vector<CountRange> out;
  for (const std::string_view part : split(text, ',')) {
    const std::optional<CountRange> range = parse_triplet(part);
    if (!range) return std::nullopt;
    if (range->last > 0) out.push_back(*range);
  }
  if (out.empty()) return std::nullopt;
  return out;
}

std::optional<std::uint32_t> largest_allowed(std::span<const CountRange> ranges, std::uint32_t most) {
  std::uint32_t out = 0;
  for (const CountRange& range : ranges) {
    if (range.first > most || range.step == 0) continue;
    const std::uint32_t last = std::min(most, range.last);
    out = std::max(out, range.first + (last - range.first) / range.step * range.step);
  }
  return out == 0 ? std::nullopt : std::optional(out);
}

}  // namespace sml::plan
