#include "launcher/report/live/line_pattern.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "common/core/text.h"

namespace sml::report {

namespace {

constexpr std::size_t kLongestPattern = 4096;
constexpr std::int64_t kPatternMemory = std::int64_t{8} << 20;

RE2::Options options() {
  RE2::Options out;
  out.set_log_errors(false);
  out.set_max_mem(kPatternMemory);
  return out;
}

std::optional<std::uint64_t> number_in(const re2::StringPiece& text) {
  return parse_number<std::uint64_t>({text.data(), text.size()});
}

}  // namespace

struct LinePattern::Compiled {
  explicit Compiled(const std::string& text) : expression(text, options()) {}
  RE2 expression;
};

Result<LinePattern> LinePattern::parse(std::string_view text) {
  if (text.empty()) return Error(ErrorKind::Usage, "the regular expression is empty; . stands for any line with text");
  if (text.size() > kLongestPattern) {
    return Error(ErrorKind::Usage,
                 "the regular expression is longer than " + std::to_string(kLongestPattern) + " bytes");
  }
  LinePattern out;
  out.text_ = text;
  auto compiled = std::make_shared<Compiled>(out.text_);
  if (!compiled->expression.ok()) {
    return Error(ErrorKind::Usage,
                 "\"" + show(text, 80) + "\" is no regular expression: " + show(compiled->expression.error(), 120));
  }
  out.compiled_ = std::move(compiled);
  return out;
}

bool LinePattern::found_in(std::string_view line) const {
  return RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), compiled_->expression);
}

bool LinePattern::has_group() const { return compiled_->expression.NumberOfCapturingGroups() > 0; }

StepNumbers LinePattern::numbers_in(std::string_view line) const {
  std::array<re2::StringPiece, 3> found;
  const re2::StringPiece text(line.data(), line.size());
  const int parts = std::min(compiled_->expression.NumberOfCapturingGroups() + 1, static_cast<int>(found.size()));
  if (!compiled_->expression.Match(text, 0, text.size(), RE2::UNANCHORED, found.data(), parts)) return {};
  StepNumbers out{number_in(found[1]), {}};
  if (out.step) out.total = number_in(found[2]);
  return out;
}

}  // namespace sml::report
