#include "common/core/text_cursor.h"

#include <algorithm>
#include <string>

#include "common/core/letters.h"
#include "common/core/text.h"

namespace sml {

void drop_blanks(std::string_view& rest) {
  take_while(rest, [](char c) { return is_blank(c) || c == '\n'; });
}

std::string_view take_word(std::string_view& rest, char end) {
  drop_blanks(rest);
  return take_while(rest, [end](char c) { return !is_blank(c) && c != '\n' && c != end; });
}

Error file_error(std::string_view path, std::string_view what) {
  return Error(ErrorKind::Config, show(path) + ": " + std::string(what));
}

Error file_error(std::string_view path, std::size_t line, std::string_view what) {
  return Error(ErrorKind::Config, show(path) + ":" + std::to_string(line) + ": " + std::string(what));
}

TextCursor::TextCursor(std::string_view text, std::string_view path)
    : rest_(without_byte_order_mark(text)), path_(path) {}

std::string_view TextCursor::take(std::size_t size) {
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(taken.size());
  line_ += static_cast<std::size_t>(std::count(taken.begin(), taken.end(), '\n'));
  return taken;
}

std::string_view TextCursor::take_line() {
  const std::string_view line = rest_of_line();
  take(line.size() + 1);
  return line;
}

void TextCursor::skip_blanks() { take_while(rest_, is_blank); }

}  // namespace sml
