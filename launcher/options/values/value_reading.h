// Parsers of values, shared by the files of option_values.h. Error messages name the expected value.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/exit_status.h"
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

// A number of bytes, such as 64K. `kLeast`: below 1024, or a multiple of it.
template <std::uint64_t kLeast>
Result<std::uint64_t> size_from(std::string_view value) {
  const std::optional<std::uint64_t> size = parse_size(value);
  if (size && *size >= kLeast) return *size;
  const std::string from = kLeast < 1024 ? "" : fmt::format(" of {}K or more", kLeast / 1024);
  return bad_value(value, fmt::format("a size{}, written as 65536, 64K, 10M or 2G", from));
}

// "a, b or c" if `last` is " or ".
inline std::string enumeration(std::span<const std::string> words, std::string_view last) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 < words.size() ? std::string_view(", ") : last;
    out += words[i];
  }
  return out;
}

// A fixed word, and the constant that is stored for it.
template <class Value>
struct Choice {
  std::string_view word;
  Value value;
};

// The constant for a word. If several words for the same constant follow each other, errors name the first.
template <const auto& kChoices>
auto one_of(std::string_view value) -> Result<decltype(kChoices[0].value)> {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::size(kChoices); ++i) {
    if (value == kChoices[i].word) return kChoices[i].value;
    if (i == 0 || kChoices[i].value != kChoices[i - 1].value) words.emplace_back(kChoices[i].word);
  }
  return bad_value(value, enumeration(words, " or "));
}

// "HUP, INT and QUIT"
inline std::string signal_names(std::span<const int> signals) {
  std::vector<std::string> names;
  for (const int signo : signals) names.push_back(signal_name(signo).substr(std::string_view("SIG").size()));
  return enumeration(names, " and ");
}

inline Result<int> one_signal(std::string_view value, std::span<const int> allowed) {
  const std::optional<int> signo = signal_number(value);
  if (signo && std::find(allowed.begin(), allowed.end(), *signo) != allowed.end()) return *signo;
  return bad_value(value, "one of " + signal_names(allowed));
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
