// Reads a text from its front: words, numbers, and the lines of a file. Each take_...() removes what it returns.
#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

#include "common/core/error.h"

namespace sml {

// The characters that `wanted` accepts.
template <class Wanted>
std::string_view take_while(std::string_view& rest, Wanted wanted) {
  std::size_t size = 0;
  while (size < rest.size() && wanted(rest[size])) ++size;
  const std::string_view taken = rest.substr(0, size);
  rest.remove_prefix(size);
  return taken;
}

// Removes blanks and ends of lines.
void drop_blanks(std::string_view& rest);

// The next word, without the blanks before it; empty if there is none. `end`, which stays, ends a word as blanks do.
std::string_view take_word(std::string_view& rest, char end = ' ');

// The number at the front of `text`, in the form of std::from_chars(); what follows it does not matter. Nullopt if
// there is none, and if it does not fit.
template <class Number>
std::optional<Number> leading_number(std::string_view text, int base = 10) {
  Number value{};
  const std::errc error = std::from_chars(text.data(), text.data() + text.size(), value, base).ec;
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// Errors (Config): "PATH: WHAT" and "PATH:LINE: WHAT".
Error file_error(std::string_view path, std::string_view what);
Error file_error(std::string_view path, std::size_t line, std::string_view what);

// A place in the text of a file; text and path must outlive it. Value type: a copy keeps a place to come back to. The
// lines of a file are read by
//   for (TextCursor at(text, path); !at.at_end(); at.take_line()) { ... at.rest_of_line() ... }
class TextCursor {
 public:
  // At the front, behind the byte order mark that Windows editors write. `path` is only for errors.
  TextCursor(std::string_view text, std::string_view path);

  bool at_end() const { return rest_.empty(); }
  // The next character; at the end of the text that of a line's end.
  char front() const { return at_end() ? '\n' : rest_.front(); }
  std::string_view rest() const { return rest_; }
  std::string_view rest_of_line() const { return rest_.substr(0, rest_.find('\n')); }
  std::size_t line() const { return line_; }  // from 1

  std::string_view take(std::size_t size);
  char take() { return take(1).front(); }  // not at the end
  // The rest of the line, whose end is removed, too.
  std::string_view take_line();
  // The blanks before the next word of the line.
  void skip_blanks();

  // file_error() for this line.
  Error error(std::string_view what) const { return file_error(path_, line_, what); }

 private:
  std::string_view rest_;
  std::string_view path_;
  std::size_t line_ = 1;
};

}  // namespace sml
