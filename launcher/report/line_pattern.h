// A regular expression over lines of workers. Matching takes time in proportion to the line, and bounded memory,
// whatever the expression. Pure.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "common/core/error.h"

namespace sml::report {

class LinePattern {
 public:
  // In the syntax of RE2. An error (kind Usage) quotes the text and says what is wrong with it.
  static Result<LinePattern> parse(std::string_view text);

  // Anywhere in `line`, which may be any bytes.
  bool found_in(std::string_view line) const;
  const std::string& text() const { return text_; }

 private:
  struct Compiled;
  std::string text_;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace sml::report
