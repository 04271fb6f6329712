#include "common/core/text.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "common/core/letters.h"

namespace sml {

namespace {

using Nanoseconds = std::chrono::nanoseconds;

// ---- durations

struct Unit {
  std::string_view suffix;
  std::uint64_t nanoseconds;
};
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::array kUnits{Unit{"", kSecond}, Unit{"s", kSecond}, Unit{"ms", kSecond / 1000}, Unit{"m", 60 * kSecond},
                            Unit{"h", 3600 * kSecond}};
constexpr std::uint64_t kYear = 365ULL * 24 * 3600 * kSecond;

// Digits before and after the point, as integers: no rounding, no locale. Nine decimals suffice for nanoseconds;
// further ones are cut off.
struct Decimal {
  std::uint64_t whole = 0;
  std::uint64_t billionths = 0;
};

std::optional<Decimal> parse_decimal(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction = point == std::string_view::npos ? "0" : text.substr(point + 1);
  if (!all_digits(whole) || !all_digits(fraction) || whole.size() > 18) return std::nullopt;
  Decimal value;
  for (char c : whole) value.whole = value.whole * 10 + static_cast<std::uint64_t>(c - '0');
  for (std::size_t i = 0; i < 9; ++i) {
    const char c = i < fraction.size() ? fraction[i] : '0';
    value.billionths = value.billionths * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

std::optional<Duration> duration_of(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view suffix = text.substr(end);
  const auto* unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& u) { return u.suffix == suffix; });
  const std::optional<Decimal> number = parse_decimal(text.substr(0, end));
  if (unit == kUnits.end() || !number || number->whole > kYear / unit->nanoseconds) return std::nullopt;
  const std::uint64_t fraction = unit->nanoseconds >= kSecond ? number->billionths * (unit->nanoseconds / kSecond)
                                                              : number->billionths / (kSecond / unit->nanoseconds);
  const std::uint64_t total = number->whole * unit->nanoseconds + fraction;
  if (total > kYear) return std::nullopt;
  return std::chrono::duration_cast<Duration>(Nanoseconds(static_cast<std::int64_t>(total)));
}

// At most one decimal, and none if it is 0: "1.5", "2".
std::string tenths(std::uint64_t value, std::uint64_t unit) {
  const std::uint64_t scaled = (value * 10 + unit / 2) / unit;
  std::string out = std::to_string(scaled / 10);
  if (scaled % 10 != 0) out += "." + std::to_string(scaled % 10);
  return out;
}

// ---- abbreviating names

// A name split before its trailing number; `digits` is empty if there is none or it is too long for the arithmetic.
struct NumberedName {
  std::string_view prefix;
  std::string_view digits;
  std::uint64_t number = 0;
};

NumberedName split_number(std::string_view text) {
  constexpr std::size_t kMaxDigits = 18;
  std::size_t start = text.size();
  while (start > 0 && is_digit(text[start - 1])) --start;
  const std::string_view digits = text.substr(start);
  // The last group of an IPv6 address is hexadecimal: counting it in decimal would produce other addresses.
  const bool countable = !digits.empty() && digits.size() <= kMaxDigits && text.find(':') == std::string_view::npos;
  if (!countable) return {text, {}, 0};
  NumberedName name{text.substr(0, start), digits, 0};
  for (char c : digits) name.number = name.number * 10 + static_cast<std::uint64_t>(c - '0');
  return name;
}

std::string padded(std::uint64_t number, std::size_t width) {
  std::string digits = std::to_string(number);
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

// The numbers of consecutive names with the same prefix: "1-2,4".
class NumberList {
 public:
  explicit NumberList(const NumberedName& first) { open(first); }
  void add(const NumberedName& next) {
    if (next.digits == padded(last_ + 1, first_digits_.size())) {
      ++last_;
      return;
    }
    close();
    text_ += ',';
    open(next);
  }
  std::string finish() {
    close();
    return std::move(text_);
  }

 private:
  void open(const NumberedName& name) {
    first_digits_ = name.digits;
    first_ = last_ = name.number;
  }
  void close() {
    text_ += first_digits_;
    if (last_ != first_) text_ += "-" + padded(last_, first_digits_.size());
  }
  std::string text_;
  std::string_view first_digits_;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
};

// ---- display of bytes

// True for valid characters that control a terminal or change the order of the displayed text: C1 controls, line
// separators, bidirectional marks.
bool steers_terminal(std::string_view character) {
  if (character.size() == 2) return character[0] == '\xC2' && static_cast<unsigned char>(character[1]) < 0xA0;
  if (character.size() != 3 || character[0] != '\xE2') return false;
  const auto last = static_cast<unsigned char>(character[2]);
  if (character[1] == '\x80') return last >= 0x8B && last <= 0xAE && (last <= 0x8F || last >= 0xA8);
  return character[1] == '\x81' && last >= 0xA0 && last <= 0xAF;
}

std::string escape_byte(char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '\n': return "\\n";
    case '\t': return "\\t";
    case '\r': return "\\r";
    default: break;
  }
  const auto value = static_cast<unsigned char>(c);
  return {'\\', 'x', kHex[value >> 4U], kHex[value & 0xFU]};
}

bool needs_no_quotes(char c) {
  return is_letter_or_digit(c) || std::string_view("@%+=:,./_-").find(c) != std::string_view::npos;
}

// ---- shell words

class WordReader {
 public:
  explicit WordReader(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> read() {
    while (at_ < text_.size()) {
      if (const char* missing = step()) {
        return Error(ErrorKind::Usage, std::string(missing) + " in \"" + show(text_) + "\"");
      }
    }
    end_word();
    return std::move(words_);
  }

 private:
  // Takes one character or one quoted part; returns what is missing if the text ends too early, otherwise nullptr.
  const char* step() {
    const char c = text_[at_++];
    if (c == ' ' || c == '\t' || c == '\n') {
      end_word();
      return nullptr;
    }
    in_word_ = true;
    if (c == '\'') return single_quoted();
    if (c == '"') return double_quoted();
    if (c == '\\') return escaped();
    word_ += c;
    return nullptr;
  }
  const char* single_quoted() {
    const std::size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) return "closing ' is missing";
    word_ += text_.substr(at_, end - at_);
    at_ = end + 1;
    return nullptr;
  }
  const char* double_quoted() {
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      const bool escape = text_[at_] == '\\' && at_ + 1 < text_.size() &&
                          std::string_view("$`\"\\\n").find(text_[at_ + 1]) != std::string_view::npos;
      if (escape) ++at_;
      if (!escape || text_[at_] != '\n') word_ += text_[at_];
    }
    if (at_ == text_.size()) return "closing \" is missing";
    ++at_;
    return nullptr;
  }
  const char* escaped() {
    if (at_ == text_.size()) return "nothing follows the last \\";
    if (text_[at_] != '\n') word_ += text_[at_];
    ++at_;
    return nullptr;
  }
  void end_word() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string word_;
  bool in_word_ = false;
  std::vector<std::string> words_;
};

// ---- typing mistakes

constexpr std::size_t kFar = std::numeric_limits<std::size_t>::max();

// Edit distances (insert, delete, replace, swap of neighbours) between `b` and every prefix of `a`.
std::vector<std::size_t> prefix_distances(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  std::vector<std::size_t> out{above.back()};
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    out.push_back(row.back());
    before = std::exchange(above, std::move(row));
  }
  return out;
}

// The distance of `candidate` from `word`; kFar if neither is a misspelling of the other. If one is only a prefix of
// the other, the distance is larger than that of any true misspelling.
std::size_t mistake(std::string_view word, std::string_view candidate) {
  constexpr std::size_t kGuess = 100;
  constexpr std::size_t kShortestGuess = 4;
  const std::vector<std::size_t> distances = prefix_distances(word, candidate);
  const std::size_t allowed = std::max<std::size_t>(1, std::min(word.size(), candidate.size()) / 3);
  if (distances.back() <= allowed && distances.back() < word.size()) return distances.back();
  if (word.size() >= kShortestGuess && candidate.starts_with(word)) return kGuess + candidate.size() - word.size();
  const std::size_t best = *std::min_element(distances.begin(), distances.end());
  if (candidate.size() >= kShortestGuess && best <= 1) return 2 * kGuess + best;
  return kFar;
}

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
  constexpr std::string_view kPrefixes = "KMGT";
  unsigned shift = 0;
  if (!text.empty()) {
    const std::size_t unit = kPrefixes.find(text.back());
    if (unit != std::string_view::npos) {
      shift = 10 * (static_cast<unsigned>(unit) + 1);
      text.remove_suffix(1);
    }
  }
  const auto number = parse_number<std::uint64_t>(text);
  if (!number || *number > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return *number << shift;
}

std::string_view trim(std::string_view text, std::string_view blanks) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t end = text.find(separator);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::string_view take_until(std::string_view& rest, char separator) {
  const std::string_view taken = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(taken.size() + 1, rest.size()));
  return taken;
}

Result<Duration> parse_duration(std::string_view text) {
  if (const std::optional<Duration> duration = duration_of(text)) return *duration;
  return Error(ErrorKind::Usage,
               "\"" + show(text, 60) + "\" is no duration; expected 90, 90s, 1.5m, 2h or 250ms, at most a year");
}

std::string pluralize(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string format_duration(Duration d) {
  const std::int64_t signed_count = std::chrono::duration_cast<Nanoseconds>(d).count();
  if (signed_count < 0) return "-" + format_duration(-d);
  const auto count = static_cast<std::uint64_t>(signed_count);
  if (count == 0) return "0 s";
  if (count < 999'950) return tenths(count, 1000) + " us";  // what rounds to 1000 is of the next unit
  if (count < 999'950'000) return tenths(count, 1'000'000) + " ms";
  if (count < 120 * kSecond) return tenths(count, kSecond) + " s";
  if (count < 7200 * kSecond) return tenths(count / 1000, 60 * kSecond / 1000) + " min";
  return tenths(count / 1'000'000, 3600 * kSecond / 1'000'000) + " h";
}

std::string fold_names(std::span<const std::string> names) {
  std::string out;
  for (std::size_t i = 0; i < names.size();) {
    if (i > 0) out += ',';
    const NumberedName first = split_number(names[i]);
    const std::size_t start = i++;
    NumberList numbers(first);
    for (; !first.digits.empty() && i < names.size(); ++i) {
      const NumberedName next = split_number(names[i]);
      if (next.digits.empty() || next.prefix != first.prefix) break;
      numbers.add(next);
    }
    out += i == start + 1 ? names[start] : std::string(first.prefix) + "[" + numbers.finish() + "]";
  }
  return out;
}

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : (lead & 0xF0U) == 0xE0 ? 3 : 4;
  if (length == 4 && (lead < 0xF0 || lead > 0xF4)) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90)) return 0;    // overlong
  if ((lead == 0xED && byte(1) >= 0xA0) || (lead == 0xF4 && byte(1) >= 0x90)) return 0;  // surrogate, or above U+10FFFF
  return length;
}

std::string show(std::string_view bytes, std::size_t limit) {
  constexpr std::string_view kCut = "...";
  std::string out;
  std::size_t room_for_cut = 0;  // how much of `out` can stay when kCut follows
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = utf8_length(bytes.substr(at));
    const std::string_view character = bytes.substr(at, std::max<std::size_t>(length, 1));
    const bool plain = length == 1 ? character[0] >= ' ' && character[0] != '\x7F' : length != 0;
    std::string piece;
    if (plain && !steers_terminal(character)) {
      piece = character;
    } else {
      for (char c : character) piece += escape_byte(c);
    }
    if (out.size() + kCut.size() <= limit) room_for_cut = out.size();
    if (out.size() + piece.size() > limit) return out.substr(0, room_for_cut) + std::string(kCut.substr(0, limit));
    out += piece;
    at += character.size();
  }
  return out;
}

Error bad_value(std::string_view value, std::string_view expected) {
  return Error(ErrorKind::Usage, "\"" + show(value, 80) + "\" is not " + std::string(expected));
}

std::string shell_quote(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), needs_no_quotes)) return std::string(word);
  std::string out = "'";
  for (char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

Result<std::vector<std::string>> shell_words(std::string_view text) { return WordReader(text).read(); }

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t kLongestWord = 100;
  if (word.size() > kLongestWord) return {};
  std::string_view best;
  std::size_t best_mistake = kFar;
  for (std::string_view candidate : candidates) {
    const std::size_t m = mistake(word, candidate);
    if (m >= best_mistake) continue;
    best = candidate;
    best_mistake = m;
  }
  return best;
}

}  // namespace sml
