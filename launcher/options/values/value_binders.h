// Function templates for rows of the option table whose values are a text, a constant, a whole number or a duration. A
// field is named by its path from Options: text<&Options::logs, &LogOptions::directory>. Error messages say which value
// was expected.
#pragma once
#include <chrono>
#include <cstdint>
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

// For an option without a value.
template <auto Constant, auto... Field>
Result<void> constant(Options& o, std::string_view) {
  return keep(field_at<Field...>(o), Constant);
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
