// A regular expression for lines of workers. Matching takes linear time in the line's length and bounded memory,
// whatever the expression. Pure.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/error.h"

namespace sml::report {

// A step, and the number of all steps; each nullopt if it is not known.
struct StepNumbers {
  std::optional<std::uint64_t> step{};
  std::optional<std::uint64_t> total{};
};

class LinePattern {
 public:
  // In the syntax of RE2. Error (Usage) quotes the text and the reason.
  static Result<LinePattern> parse(std::string_view text);

  // True if it matches anywhere in `line`, which may contain any bytes.
  bool found_in(std::string_view line) const;
  // The numbers in the parts of `line` that the first two groups match: a step, and the total. Nullopt for a part that
  // is no decimal number or has no group; there is no total without a step.
  StepNumbers numbers_in(std::string_view line) const;
  bool has_group() const;  // the expression has a capturing group
  const std::string& text() const { return text_; }

 private:
  struct Compiled;
  std::string text_;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace sml::report
