// Small text rules used everywhere: durations, host lists for messages, quoting for display.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"

namespace sml {

// Without the blanks at both ends.
std::string_view trim(std::string_view text, std::string_view blanks = " \t\r\n");

// Without the mark that Windows editors put before UTF-8.
std::string_view without_byte_order_mark(std::string_view text);

// "a,b,,c" → "a", "b", "", "c"; always one more than there are separators.
std::vector<std::string_view> split(std::string_view text, char separator);

// "90", "90s", "1.5m", "2h", "250ms" → duration. Anything else, negative values and more than a year are errors that
// quote the text and name the accepted forms.
Result<Duration> parse_duration(std::string_view text);

// "65536", "64K", "10M", "2G" (powers of 1024) → bytes. Nothing for anything else, and for what does not fit.
std::optional<std::uint64_t> parse_size(std::string_view text);

// "1 host", "3 hosts".
std::string counted(std::uint64_t count, std::string_view noun);

// "1.5 s", "250 ms", "2 min": for messages; not meant to be parsed again.
std::string format_duration(Duration d);

// Names folded for a message, in the order given: {"algo-1","algo-2","algo-4","x"} → "algo-[1-2,4],x".
// Zero padding is kept; names without a trailing number stay as they are.
std::string fold_names(std::span<const std::string> names);

// The bytes of the UTF-8 character at the front of `text`; 0 when there is no valid one.
std::size_t utf8_length(std::string_view text);

// Bytes shown to a person inside quotes: printable ASCII and valid UTF-8 stay, the rest becomes \n, \t, \xNN.
// Cut to `limit` bytes with "..." when longer.
std::string show(std::string_view bytes, std::size_t limit = 200);

// One word as a POSIX shell would read it back ('it'\''s'). For messages and the dry run only: nothing of ours is
// ever given to a shell.
std::string shell_quote(std::string_view word);

// Splits like a POSIX shell without expansion: blanks separate, '...' and "..." and \ quote. Unfinished quotes are
// errors.
Result<std::vector<std::string>> shell_words(std::string_view text);

// The candidate nearest to `word` when it is near enough to be a typing mistake, else empty.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace sml
