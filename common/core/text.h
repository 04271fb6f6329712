// Functions on texts that are used everywhere: splitting, parsing of numbers, durations and sizes, abbreviating and
// quoting for messages, words of a shell, misspellings. Pure.
#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"

namespace sml {

// Removes the blanks at both ends.
std::string_view trim(std::string_view text, std::string_view blanks = " \t\r\n");

// Removes the byte order mark that Windows editors write before UTF-8.
std::string_view without_byte_order_mark(std::string_view text);

// "a,b,,c" → "a", "b", "", "c"; always one item more than separators.
std::vector<std::string_view> split(std::string_view text, char separator);

// Removes the text up to the next `separator`, or all of it, from the front of `rest` and returns it; the separator is
// removed, too.
std::string_view take_until(std::string_view& rest, char separator);

// Returns the number that the whole text consists of, in the form of std::from_chars(); nullopt if the text has
// anything else in it, or if the number does not fit. `format`: a base, 10 if none is given.
template <class Number, class... Format>
std::optional<Number> parse_number(std::string_view text, Format... format) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, format...);
  return error == std::errc() && rest == end ? std::optional(value) : std::nullopt;
}

// "90", "90s", "1.5m", "2h", "250ms" → duration. Anything else, negative values and more than a year are errors that
// quote the text and name the accepted forms.
Result<Duration> parse_duration(std::string_view text);

// "65536", "64K", "10M", "2G", "1T" (powers of 1024) → bytes. Returns nullopt for anything else, and on overflow.
std::optional<std::uint64_t> parse_size(std::string_view text);

// "1 host", "3 hosts".
std::string pluralize(std::uint64_t count, std::string_view noun);

// "1.5 s", "250 ms", "2 min": for messages; not meant to be parsed.
std::string format_duration(Duration d);

// Abbreviates names for a message, in the given order: {"algo-1","algo-2","algo-4","x"} → "algo-[1-2,4],x". Zero
// padding is kept; names without a trailing number, and IPv6 addresses, stay as they are.
std::string fold_names(std::span<const std::string> names);

// The length in bytes of the UTF-8 character at the front of `text`, which must not be empty; 0 if it is not valid.
std::size_t utf8_length(std::string_view text);

// Formats bytes for display inside quotes. Printable ASCII (" and \ too) and valid UTF-8 stay; all other bytes, and
// valid characters that control a terminal or the order of the text, become \n, \r, \t or \xNN. A result of more than
// `limit` bytes is cut and ends with "...".
std::string show(std::string_view bytes, std::size_t limit = 200);

// Error (Usage): '"VALUE" is not EXPECTED'.
Error bad_value(std::string_view value, std::string_view expected);

// Quotes one word for a POSIX shell ('it'\''s'). Only for texts that people read or paste, and to complete a command
// that the user wrote for a shell: sml-run passes no other text to a shell.
std::string shell_quote(std::string_view word);

// Splits like a POSIX shell, but without expansion, operators and comments: blanks separate; \ and '...' and "..."
// quote. An unclosed quote is an error (Usage), and so is a \ at the end of the text.
Result<std::vector<std::string>> shell_words(std::string_view text);

// Returns the candidate nearest to `word`, or an empty text if none is near. A candidate is near if `word` is a
// misspelling of it, if it begins with `word` (of 4 or more letters), or if it has 4 or more letters and `word` begins
// with it, with at most one mistake: "hotsfile" for "hosts". No candidate is near to a word of more than 100 letters.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace sml
