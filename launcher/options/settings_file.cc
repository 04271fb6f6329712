#include "launcher/options/settings_file.h"

#include <algorithm>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "common/core/text_cursor.h"

namespace sml::plan {

namespace {

constexpr auto npos = std::string_view::npos;

bool begins_comment(char c) { return c == '#' || c == ';'; }
bool is_key_char(char c) { return is_letter_or_digit(c) || c == '_' || c == '-' || c == '.'; }
bool is_key(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_key_char); }

class Reader {
 public:
  Reader(std::string_view text, std::string_view path) : text_(text, path) {}

  Result<std::vector<Setting>> read() {
    for (; !text_.at_end(); text_.take_line()) {
      if (Result<void> line = read_line(); !line) return line.error();
    }
    return std::move(settings_);
  }

 private:
  // Leaves text_ on the last line of what it reads.
  Result<void> read_line() {
    const std::string_view line = trim(text_.rest_of_line());
    if (line.empty() || begins_comment(line.front())) return {};
    return line.front() == '[' ? read_section(line) : read_setting();
  }

  Result<void> read_section(std::string_view line) {
    const std::size_t close = line.find(']');
    const std::string_view name = trim(line.substr(1, close - 1));
    if (close == npos || !is_key(name)) return text_.error("no section; expected [NAME]");
    section_ = name;
    return read_end(line.substr(close + 1), "text follows the section's \"]\"");
  }

  Result<void> read_end(std::string_view rest, std::string_view otherwise) const {
    rest = trim(rest);
    return rest.empty() || begins_comment(rest.front()) ? Result<void>() : text_.error(otherwise);
  }

  Result<void> read_setting() {
    const std::string_view line = text_.rest_of_line();
    const std::size_t equals = line.find('=');
    if (equals == npos) return text_.error("no \"=\" in the line; expected KEY = VALUE");
    std::string_view key = trim(line.substr(0, equals));
    const bool quoted = key.size() > 1 && is_quote(key.front()) && key.back() == key.front();
    if (quoted) key = key.substr(1, key.size() - 2);
    if (!is_key(key)) return text_.error("no key before \"=\"; expected letters, digits, \"-\", \"_\" and \".\"");
    Setting setting{section_, std::string(key), {}, text_.line()};
    text_.take(equals + 1);
    text_.skip_blanks();
    if (Result<void> read = read_values(setting.values); !read) return read;
    settings_.push_back(std::move(setting));
    return read_end(text_.rest_of_line(), "text follows the end of the value");
  }

  Result<void> read_values(std::vector<std::string>& values) {
    if (text_.front() == '[') return read_list(values);
    Result<std::string> value = read_value("");
    if (!value) return value.error();
    if (value->empty()) return text_.error("no value after \"=\"");
    values.push_back(std::move(*value));
    return {};
  }

  static bool is_quote(char c) { return c == '"' || c == '\''; }

  // Leaves text_ after the "]".
  Result<void> read_list(std::vector<std::string>& values) {
    const TextCursor begin = text_;
    text_.take();
    for (skip_space_of_list(); !text_.at_end() && text_.front() != ']'; skip_space_of_list()) {
      Result<std::string> value = read_value(",]");
      if (!value) return value.error();
      if (value->empty()) return text_.error("an empty value in the list");
      values.push_back(std::move(*value));
      skip_space_of_list();
      if (text_.at_end() || text_.front() == ']') break;
      if (text_.take() != ',') return text_.error("expected \",\" or \"]\" after a value of the list");
    }
    if (text_.at_end()) return begin.error("the list's \"]\" is missing");
    text_.take();
    return values.empty() ? text_.error("the list is empty") : Result<void>();
  }

  // Skips blanks, ends of lines and comments.
  void skip_space_of_list() {
    for (text_.skip_blanks(); !text_.at_end(); text_.skip_blanks()) {
      if (text_.front() != '\n' && !begins_comment(text_.front())) return;
      text_.take_line();
    }
  }

  // A value without quotes ends before each of `ends`.
  Result<std::string> read_value(std::string_view ends) {
    return is_quote(text_.front()) ? read_quoted(text_.take()) : read_bare(ends);
  }

  Result<std::string> read_bare(std::string_view ends) {
    const std::string_view line = text_.rest_of_line();
    const auto comment_at = [&](std::size_t i) { return begins_comment(line[i]) && (i == 0 || is_blank(line[i - 1])); };
    std::size_t size = 0;
    while (size < line.size() && ends.find(line[size]) == npos && !comment_at(size)) ++size;
    const std::string_view value = trim(text_.take(size));
    if (value.find('\0') != npos) return text_.error("a value cannot hold a NUL byte");
    return std::string(value);
  }

  // Begins after the opening quote, and ends after the closing one.
  Result<std::string> read_quoted(char quote) {
    std::string value;
    while (text_.front() != quote && text_.front() != '\n') {
      const char c = text_.take();
      if (c == '\0') return text_.error("a value cannot hold a NUL byte");
      const Result<char> meant = quote == '"' && c == '\\' ? read_escape() : Result<char>(c);
      if (!meant) return meant.error();
      value += *meant;
    }
    if (text_.front() != quote) return text_.error(std::string("closing ") + quote + " is missing");
    text_.take();
    return value;
  }

  // The character for which the one after a backslash stands.
  Result<char> read_escape() {
    constexpr std::string_view kLetters = "ntr\"\\";
    constexpr std::string_view kMeanings = "\n\t\r\"\\";
    const std::size_t index = kLetters.find(text_.front());
    if (index == npos) {
      return text_.error(R"(unknown escape; expected \n, \t, \r, \" or \\, or '...', where none is needed)");
    }
    text_.take();
    return kMeanings[index];
  }

  TextCursor text_;
  std::string section_;
  std::vector<Setting> settings_;
};

}  // namespace

Result<std::vector<Setting>> parse_settings_file(std::string_view text, std::string_view path) {
  if (text.size() > kMaxSettingsBytes) return file_error(path, "is larger than 1 MiB");
  return Reader(text, path).read();
}

}  // namespace sml::plan
