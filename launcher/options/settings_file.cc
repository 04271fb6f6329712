#include "launcher/options/settings_file.h"

#include <algorithm>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"

namespace sml::plan {

namespace {

constexpr auto npos = std::string_view::npos;

bool begins_comment(char c) { return c == '#' || c == ';'; }
bool is_key_char(char c) { return is_letter_or_digit(c) || c == '_' || c == '-' || c == '.'; }
bool is_key(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_key_char); }

class Reader {
 public:
  Reader(std::string_view text, std::string_view path) : text_(text), path_(path) {}

  Result<std::vector<Setting>> read() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // a byte order mark, as Windows editors write it
    while (at_ < text_.size()) {
      if (Result<void> line = read_line(); !line) return line.error();
    }
    return std::move(settings_);
  }

 private:
  Error bad(std::string_view what) const {
    return Error(ErrorKind::Config, show(path_) + ":" + std::to_string(line_) + ": " + std::string(what));
  }
  bool at_end() const { return at_ >= text_.size(); }
  std::string_view rest_of_line() const { return text_.substr(at_, text_.find('\n', at_) - at_); }
  void skip_blanks() {
    while (!at_end() && is_blank(text_[at_])) ++at_;
  }
  void skip_line() {
    at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
    ++line_;
  }

  Result<void> read_line() {
    const std::string_view line = trim(rest_of_line());
    if (line.empty() || begins_comment(line.front())) {
      skip_line();
      return {};
    }
    return line.front() == '[' ? read_section(line) : read_setting();
  }

  Result<void> read_section(std::string_view line) {
    const std::size_t close = line.find(']');
    const std::string_view name = trim(line.substr(1, close - 1));
    if (close == npos || !is_key(name)) return bad("no section; expected [NAME]");
    const std::string_view after = trim(line.substr(close + 1));
    if (!after.empty() && !begins_comment(after.front())) return bad("text follows the section's \"]\"");
    section_ = name;
    skip_line();
    return {};
  }

  Result<void> read_setting() {
    const std::string_view line = rest_of_line();
    const std::size_t equals = line.find('=');
    if (equals == npos) return bad("no \"=\" in the line; expected KEY = VALUE");
    std::string_view key = trim(line.substr(0, equals));
    const bool quoted = key.size() > 1 && (key.front() == '"' || key.front() == '\'') && key.back() == key.front();
    if (quoted) key = key.substr(1, key.size() - 2);
    if (!is_key(key)) return bad("no key before \"=\"; expected letters, digits, \"-\", \"_\" and \".\"");
    Setting setting{section_, std::string(key), {}, line_};
    at_ += equals + 1;
    skip_blanks();
    if (Result<void> read = read_values(setting.values); !read) return read;
    const std::string_view after = trim(rest_of_line());
    if (!after.empty() && !begins_comment(after.front())) return bad("text follows the end of the value");
    settings_.push_back(std::move(setting));
    skip_line();
    return {};
  }

  Result<void> read_values(std::vector<std::string>& values) {
    const char first = at_end() ? '\n' : text_[at_];
    if (first == '[') return read_list(values);
    Result<std::string> value = is_quote(first) ? read_quoted(first) : read_bare("\n");
    if (!value) return value.error();
    if (value->empty()) return bad("no value after \"=\"");
    values.push_back(std::move(*value));
    return {};
  }

  static bool is_quote(char c) { return c == '"' || c == '\''; }

  // Leaves at_ after the "]".
  Result<void> read_list(std::vector<std::string>& values) {
    const std::size_t first_line = line_;
    ++at_;
    while (skip_space_of_list() && text_[at_] != ']') {
      Result<std::string> value = is_quote(text_[at_]) ? read_quoted(text_[at_]) : read_bare(",]\n");
      if (!value) return value.error();
      if (value->empty()) return bad("an empty value in the list");
      values.push_back(std::move(*value));
      if (!skip_space_of_list() || text_[at_] == ']') break;
      if (text_[at_] != ',') return bad("expected \",\" or \"]\" after a value of the list");
      ++at_;
    }
    if (at_end()) {
      line_ = first_line;
      return bad("the list's \"]\" is missing");
    }
    ++at_;
    return values.empty() ? bad("the list is empty") : Result<void>();
  }

  // Skips blanks, ends of lines and comments; returns false at the end of the text.
  bool skip_space_of_list() {
    while (!at_end()) {
      if (text_[at_] == '\n') {
        ++line_;
      } else if (begins_comment(text_[at_])) {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      } else if (!is_blank(text_[at_])) {
        return true;
      }
      ++at_;
    }
    return false;
  }

  Result<std::string> read_bare(std::string_view ends) {
    const std::size_t begin = at_;
    while (!at_end() && ends.find(text_[at_]) == npos) {
      const bool comment = begins_comment(text_[at_]) && (at_ == begin || is_blank(text_[at_ - 1]));
      if (comment) break;
      ++at_;
    }
    const std::string_view value = trim(text_.substr(begin, at_ - begin));
    if (value.find('\0') != npos) return bad("a value cannot hold a NUL byte");
    return std::string(value);
  }

  Result<std::string> read_quoted(char quote) {
    std::string value;
    for (++at_; !at_end() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\0') return bad("a value cannot hold a NUL byte");
      if (quote == '"' && text_[at_] == '\\') {
        const Result<char> escaped = read_escape();
        if (!escaped) return escaped.error();
        value += *escaped;
      } else {
        value += text_[at_];
      }
    }
    if (at_end() || text_[at_] != quote) return bad(std::string("closing ") + quote + " is missing");
    ++at_;
    return value;
  }

  // Leaves at_ on the last character of the escape.
  Result<char> read_escape() {
    constexpr std::string_view kLetters = "ntr\"\\";
    constexpr std::string_view kMeanings = "\n\t\r\"\\";
    ++at_;
    const std::size_t index = at_end() ? npos : kLetters.find(text_[at_]);
    if (index == npos) return bad(R"(unknown escape; expected \n, \t, \r, \" or \\, or '...', where none is needed)");
    return kMeanings[index];
  }

  std::string_view text_;
  std::string_view path_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::string section_;
  std::vector<Setting> settings_;
};

}  // namespace

Result<std::vector<Setting>> parse_settings_file(std::string_view text, std::string_view path) {
  if (text.size() > kMaxSettingsBytes) return Error(ErrorKind::Config, show(path) + ": is larger than 1 MiB");
  return Reader(text, path).read();
}

}  // namespace sml::plan
