// Function templates whose instances are Setters (option_values.h) for rows of the option table. Each one sets the
// field of Options that `Field` names by its path: text<&Options::logs, &LogOptions::directory>. The new value is the
// text itself, a constant, or the result of a parser, such as `kParse`. A flag, which is an option without a value, has
// an empty text. Error messages name the expected value. Pure, but for the fields that are set.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "launcher/options/values/option_values.h"
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

// Adds the text to a field that is a list, and replaces the value of any other field; a flag thus empties the field.
template <auto... Field>
Result<void> text(Options& o, std::string_view value) {
  auto& field = field_at<Field...>(o);
  if constexpr (requires { field.emplace_back(value); }) {
    field.emplace_back(value);
  } else {
    field = value;
  }
  return {};
}

// Which texts are valid, and how an error describes them.
struct TextRule {
  bool (*holds)(std::string_view text);
  std::string_view expected;
};

constexpr bool is_not_empty(std::string_view text) { return !text.empty(); }
inline constexpr TextRule kFileName{is_not_empty, "the name of a file"};
inline constexpr TextRule kFolderName{is_not_empty, "the name of a folder"};
inline constexpr TextRule kShellCommand{is_not_empty, "a command, as for sh"};

template <const TextRule& kRule, auto... Field>
Result<void> valid_text(Options& o, std::string_view value) {
  if (!kRule.holds(value)) return bad_value(value, kRule.expected);
  return text<Field...>(o, value);
}

// For an option without a value.
template <auto Constant, auto... Field>
Result<void> constant(Options& o, std::string_view) {
  return keep(field_at<Field...>(o), Constant);
}

// For an option without a value: the optional field gets an empty value.
template <auto... Field>
Result<void> emptied(Options& o, std::string_view) {
  field_at<Field...>(o).emplace();
  return {};
}

// `kParse` takes the text of the value and returns a Result.
template <auto kParse, auto... Field>
Result<void> parsed(Options& o, std::string_view value) {
  return store(field_at<Field...>(o), kParse(value));
}

// The text is one of the words of `kChoices`; stores the constant of that word.
template <const auto& kChoices, auto... Field>
Result<void> choice(Options& o, std::string_view value) {
  return parsed<one_of<kChoices>, Field...>(o, value);
}

// `kParse` also takes the largest number that the text may contain.
template <auto kParse, std::uint32_t kLargest, auto... Field>
Result<void> parsed_up_to(Options& o, std::string_view value) {
  return store(field_at<Field...>(o), kParse(value, kLargest));
}

// `kParse` returns values that are added to those of the field.
template <auto kParse, auto... Field>
Result<void> add_to(Options& o, std::string_view value) {
  const auto values = kParse(value);
  if (!values) return values.error();
  auto& field = field_at<Field...>(o);
  for (const auto& one : *values) field.insert(field.end(), one);
  return {};
}

template <const auto& kSignals, auto... Field>
Result<void> signal_among(Options& o, std::string_view value) {
  return store(field_at<Field...>(o), one_signal(value, kSignals));
}

template <std::uint32_t kLeast, std::uint32_t kMost, auto... Field>
Result<void> whole_number(Options& o, std::string_view value) {
  return store(field_at<Field...>(o), number(value, {kLeast, kMost}));
}

// Error messages end with `kAdvice`.
template <const std::string_view& kAdvice, std::uint32_t kLeast, std::uint32_t kMost, auto... Field>
Result<void> advised_number(Options& o, std::string_view value) {
  return store(field_at<Field...>(o), number(value, {kLeast, kMost}, kAdvice));
}

template <int kLeastMs, auto... Field>
Result<void> time_span(Options& o, std::string_view value) {
  return store(field_at<Field...>(o), duration(value, std::chrono::milliseconds(kLeastMs)));
}

// Calls the member function `kRead` of the field, which parses the text.
template <auto kRead, auto... Field>
Result<void> read_by(Options& o, std::string_view value) {
  return (field_at<Field...>(o).*kRead)(value);
}

// For an option that sets two fields: calls both Setters, the second only if the first succeeds.
template <Setter kFirst, Setter kSecond>
Result<void> both(Options& o, std::string_view value) {
  const Result<void> done = kFirst(o, value);
  return done ? kSecond(o, value) : done;
}

}  // namespace sml
