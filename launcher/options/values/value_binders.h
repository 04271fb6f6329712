// Function templates for rows of the option table whose values have no grammar of their own: a text, a constant, a
// fixed word, a whole number or a duration, or whatever another room parses. A field is named by its path from Options:
// text<&Options::logs, &LogOptions::directory>. Error messages say which value was expected.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "launcher/options/options.h"
#include "launcher/options/values/value_reading.h"

namespace sml {

template <auto First, auto... Rest>
auto& field_at(auto& object) {
  if constexpr (sizeof...(Rest) == 0) {
    return object.*First;
  } else {
    return field_at<Rest...>(object.*First);
  }
}

template <auto... Field>
Result<void> text(Options& o, std::string_view value) {
  return keep(field_at<Field...>(o), value);
}

inline constexpr std::string_view kFileName = "the name of a file";
inline constexpr std::string_view kFolderName = "the name of a folder";
inline constexpr std::string_view kShellCommand = "a command, as for sh";

template <const std::string_view& kExpected, auto... Field>
Result<void> non_empty(Options& o, std::string_view value) {
  if (value.empty()) return bad_value(value, kExpected);
  return keep(field_at<Field...>(o), value);
}

// For an option without a value.
template <auto Constant, auto... Field>
Result<void> constant(Options& o, std::string_view) {
  return keep(field_at<Field...>(o), Constant);
}

// A fixed word, and the constant that is stored for it.
template <class Value>
struct Choice {
  std::string_view word;
  Value value;
};

template <const auto& kChoices, auto... Field>
Result<void> choice(Options& o, std::string_view value) {
  std::string words;
  std::size_t left = std::size(kChoices);
  for (const auto& [word, constant] : kChoices) {
    if (value == word) return keep(field_at<Field...>(o), constant);
    words += word;
    if (--left > 0) words += left > 1 ? ", " : " or ";
  }
  return bad_value(value, words);
}

// `kParse` takes the text of the value and returns a Result.
template <auto kParse, auto... Field>
Result<void> parsed(Options& o, std::string_view value) {
  return store(field_at<Field...>(o), kParse(value));
}

template <std::uint32_t kLeast, std::uint32_t kMost, auto... Field>
Result<void> whole_number(Options& o, std::string_view value) {
  return store(field_at<Field...>(o), number(value, {kLeast, kMost}));
}

template <int kLeastMs, auto... Field>
Result<void> time_span(Options& o, std::string_view value) {
  return store(field_at<Field...>(o), duration(value, std::chrono::milliseconds(kLeastMs)));
}

}  // namespace sml
