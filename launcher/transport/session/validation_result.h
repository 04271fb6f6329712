// Building blocks of the protocol validators: the error for a broken rule, and frequently used checks. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "common/wire/limits.h"

namespace sml::launch {

// Error (Protocol): the broken rule, as a clause that leaves out the host.
using ValidationResult = Result<void>;

inline Error broken(std::string rule) { return Error(ErrorKind::Protocol, std::move(rule)); }
inline std::string number(std::uint64_t value) { return std::to_string(value); }

// Counts an answer to one of `open` queries.
inline ValidationResult answered(std::size_t& open, std::string_view what) {
  if (open == 0) return broken("sent " + std::string(what) + " that nobody had asked for");
  --open;
  return {};
}

inline ValidationResult at_most(std::size_t count, std::size_t limit, std::string_view what) {
  if (count <= limit) return {};
  return broken("sent " + number(count) + " " + std::string(what) + ", more than " + number(limit));
}

inline ValidationResult fits(std::string_view text) {
  if (text.size() <= wire::kMaxText) return {};
  return broken("sent a text of " + number(text.size()) + " bytes, more than " + number(wire::kMaxText));
}

template <class Texts>
ValidationResult all_fit(const Texts& texts) {
  for (const auto& text : texts) {
    if (ValidationResult one = fits(text); !one) return one;
  }
  return {};
}

}  // namespace sml::launch
