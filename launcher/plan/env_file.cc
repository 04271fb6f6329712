#include "launcher/plan/env_file.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "common/core/text_cursor.h"

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

// The errors name the line but never show the text: any of it may be a secret.
class EnvFileReader {
 public:
  EnvFileReader(std::string_view text, std::string_view path) : text_(text, path) {}

  Result<Environment> read() {
    for (; !text_.at_end(); text_.take_line()) {
      if (Result<void> line = read_line(); !line) return line.error();
    }
    return std::move(variables_);
  }

 private:
  // Leaves text_ on the line where the value ends.
  Result<void> read_line() {
    const std::string_view line = text_.rest_of_line();
    if (trim(line).empty() || trim(line).front() == '#') return {};
    const std::size_t equals = line.find('=');
    std::string_view name = trim(line.substr(0, equals));
    if (name.starts_with("export") && name.size() > 6 && is_blank(name[6])) name = trim(name.substr(7));
    if (equals == std::string_view::npos) return text_.error("no \"=\" in the line; expected NAME=VALUE");
    if (!valid_variable_name(name)) {
      return text_.error(
          "no variable name before \"=\"; expected letters, digits, \"_\", \".\" and \"-\", no digit first");
    }
    text_.take(equals + 1);
    Result<std::string> value = read_value();
    if (!value) return value.error();
    if (value->find('\0') != std::string_view::npos) return text_.error("a value cannot hold a NUL byte");
    variables_.push_back(std::string(name) + "=" + *value);
    return {};
  }

  Result<std::string> read_value() {
    text_.skip_blanks();
    if (text_.front() == '\'' || text_.front() == '"') return read_quoted();
    const std::string_view line = text_.rest_of_line();
    std::size_t end = 0;
    while (end < line.size() && (line[end] != '#' || end == 0 || !is_blank(line[end - 1]))) ++end;
    return std::string(trim(line.substr(0, end)));
  }

  Result<std::string> read_quoted() {
    const TextCursor begin = text_;
    const char quote = text_.take();
    std::string value;
    while (!text_.at_end() && text_.front() != quote) value += quote == '"' ? take_escaped() : text_.take();
    if (text_.at_end()) return begin.error(std::string("closing ") + quote + " is missing");
    text_.take();
    const std::string_view after = trim(text_.rest_of_line());
    if (!after.empty() && after.front() != '#') return text_.error("text follows the closing quote");
    return value;
  }

  // Unknown escapes stay as written: Windows paths contain many.
  char take_escaped() {
    constexpr std::string_view kEscapes = "ntr\"\\$`";
    const char c = text_.take();
    const bool escape = c == '\\' && !text_.at_end() && kEscapes.find(text_.front()) != std::string_view::npos;
    return escape ? unescape(text_.take()) : c;
  }

  TextCursor text_;
  Environment variables_;
};

}  // namespace

bool valid_variable_name(std::string_view name) {
  return !name.empty() && begins_key(name.front()) && std::all_of(name.begin(), name.end(), is_key_char);
}

Result<Environment> parse_env_file(std::string_view text, std::string_view path) {
  if (text.size() > kMaxEnvFileBytes) return file_error(path, "is larger than 4 MiB");
  return EnvFileReader(text, path).read();
}

}  // namespace sml::plan
