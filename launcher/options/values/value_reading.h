// Parsers of values, shared by the files of option_values.h. Error messages say which value was expected.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/text.h"

namespace sml {

struct Bounds {
  std::uint32_t least;
  std::uint32_t most;
};

inline Result<std::uint32_t> number(std::string_view value, Bounds bounds, std::string_view advice = "") {
  const auto parsed = parse_number<std::uint32_t>(value);
  if (parsed && *parsed >= bounds.least && *parsed <= bounds.most) return *parsed;
  return bad_value(value, fmt::format("a whole number from {} to {}{}", bounds.least, bounds.most, advice));
}

inline Result<Duration> duration(std::string_view value, Duration least) {
  const Result<Duration> parsed = parse_duration(value);
  if (parsed && *parsed >= least) return *parsed;
  const std::string from = least > Duration::zero() ? "of " + format_duration(least) + " or more" : "up to a year";
  return bad_value(value, fmt::format("a duration {}, written as 90, 90s, 1.5m, 2h or 250ms", from));
}

template <class Field, class Value>
Result<void> store(Field& field, const Result<Value>& value) {
  if (!value) return value.error();
  field = static_cast<Field>(*value);
  return {};
}

template <class Field, class Value>
Result<void> keep(Field& field, Value&& value) {
  field = std::forward<Value>(value);
  return {};
}

}  // namespace sml
