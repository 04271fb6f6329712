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

class LinePattern {
 public:
  // In the syntax of RE2. Error (Usage) quotes the text and the reason.
  static Result<LinePattern> parse(std::string_view text);

  // True if it matches anywhere in `line`, which may contain any bytes.
  bool found_in(std::string_view line) const;
  // The number in the part of `line` that the first group matches; nullopt: there is no group, or no such number.
  std::optional<std::uint64_t> number_in(std::string_view line) const;
  bool has_group() const;
  const std::string& text() const { return text_; }

 private:
  struct Compiled;
  std::string text_;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace sml::report
