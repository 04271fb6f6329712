#include "launcher/plan/env_file.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"

namespace sml::plan {

namespace {

bool begins_key(char c) { return is_letter(c) || c == '_'; }
bool is_key_char(char c) { return begins_key(c) || is_digit(c) || c == '.' || c == '-'; }

char unescape(char c) {
  switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    default: return c;
  }
}

class EnvFileReader {
 public:
  EnvFileReader(std::string_view text, std::string_view path) : text_(text), path_(path) {}

  Result<Environment> read() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // a byte order mark, as Windows editors write it
    while (at_ < text_.size()) {
      if (Result<void> line = read_line(); !line) return line.error();
    }
    return std::move(variables_);
  }

 private:
  // The error names the line but never shows the text: any of it may be a secret.
  Error bad(std::string_view what) const {
    return Error(ErrorKind::Config, show(path_) + ":" + std::to_string(line_) + ": " + std::string(what));
  }
  std::string_view rest_of_line() const { return text_.substr(at_, text_.find('\n', at_) - at_); }
  void skip_line() {
    at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
    ++line_;
  }

  Result<void> read_line() {
    const std::string_view line = trim(rest_of_line());
    if (line.empty() || line.front() == '#') {
      skip_line();
      return {};
    }
    const std::size_t equals = line.find('=');
    std::string_view name = trim(line.substr(0, equals));
    if (name.starts_with("export") && name.size() > 6 && is_blank(name[6])) name = trim(name.substr(7));
    if (equals == std::string_view::npos) return bad("no \"=\" in the line; expected NAME=VALUE");
    if (!valid_variable_name(name)) {
      return bad("no variable name before \"=\"; expected letters, digits, \"_\", \".\" and \"-\", no digit first");
    }
    at_ = static_cast<std::size_t>(line.data() - text_.data()) + equals + 1;
    Result<std::string> value = read_value();
    if (!value) return value.error();
    if (value->find('\0') != std::string_view::npos) return bad("a value cannot hold a NUL byte");
    variables_.push_back(std::string(name) + "=" + *value);
    skip_line();
    return {};
  }

  // Leaves at_ on the line where the value ends.
  Result<std::string> read_value() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    const char first = at_ < text_.size() ? text_[at_] : '\n';
    if (first == '\'' || first == '"') return read_quoted(first);
    const std::string_view line = rest_of_line();
    std::size_t end = 0;
    while (end < line.size() && (line[end] != '#' || end == 0 || !is_blank(line[end - 1]))) ++end;
    return std::string(trim(line.substr(0, end)));
  }

  Result<std::string> read_quoted(char quote) {
    const std::size_t first_line = line_;
    std::string value;
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\n') ++line_;
      value += quote == '"' ? take_escaped() : text_[at_];
    }
    if (at_ == text_.size()) {
      line_ = first_line;
      return bad(std::string("closing ") + quote + " is missing");
    }
    ++at_;
    const std::string_view after = trim(rest_of_line());
    if (!after.empty() && after.front() != '#') return bad("text follows the closing quote");
    return value;
  }

  // Unknown escapes stay as written: Windows paths contain many.
  char take_escaped() {
    constexpr std::string_view kEscapes = "ntr\"\\$`";
    const bool escape =
        text_[at_] == '\\' && at_ + 1 < text_.size() && kEscapes.find(text_[at_ + 1]) != std::string_view::npos;
    return escape ? unescape(text_[++at_]) : text_[at_];
  }

  std::string_view text_;
  std::string_view path_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  Environment variables_;
};

}  // namespace

bool valid_variable_name(std::string_view name) {
  return !name.empty() && begins_key(name.front()) && std::all_of(name.begin(), name.end(), is_key_char);
}

Result<Environment> parse_env_file(std::string_view text, std::string_view path) {
  if (text.size() > kMaxEnvFileBytes) return Error(ErrorKind::Config, show(path) + ": is larger than 4 MiB");
  return EnvFileReader(text, path).read();
}

}  // namespace sml::plan
