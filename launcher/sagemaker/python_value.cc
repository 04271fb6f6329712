#include "launcher/sagemaker/python_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <unordered_map>

#include "common/core/text.h"

namespace sml::sagemaker {

namespace {

constexpr int kMaxDepth = 256;

// ---- characters

struct CodePoint {
  std::uint32_t value;
  std::size_t bytes;
};

// The first character of `text`, which is valid UTF-8.
CodePoint first_of(std::string_view text) {
  const std::size_t bytes = utf8_length(text);
  if (bytes == 1) return {static_cast<unsigned char>(text[0]), 1};
  std::uint32_t value = static_cast<unsigned char>(text[0]) & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) value = (value << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  return {value, bytes};
}

void append_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
    return;
  }
  const int tail = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr std::array<std::uint32_t, 4> kLead{0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(kLead[static_cast<std::size_t>(tail)] | (c >> (6 * tail)));
  for (int i = tail - 1; i >= 0; --i) out += static_cast<char>(0x80U | ((c >> (6 * i)) & 0x3FU));
}

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};
// Assigned characters that Python does not print unchanged: categories Cc, Cf, Co, Zl, Zp, and Zs except the blank.
constexpr std::array kNotPrintable{
    Range{0x7F, 0xA0},       Range{0xAD, 0xAD},       Range{0x600, 0x605},      Range{0x61C, 0x61C},
    Range{0x6DD, 0x6DD},     Range{0x70F, 0x70F},     Range{0x890, 0x891},      Range{0x8E2, 0x8E2},
    Range{0x1680, 0x1680},   Range{0x180E, 0x180E},   Range{0x2000, 0x200F},    Range{0x2028, 0x202F},
    Range{0x205F, 0x2064},   Range{0x2066, 0x206F},   Range{0x3000, 0x3000},    Range{0xE000, 0xF8FF},
    Range{0xFEFF, 0xFEFF},   Range{0xFFF9, 0xFFFB},   Range{0x110BD, 0x110BD},  Range{0x110CD, 0x110CD},
    Range{0x13430, 0x13438}, Range{0x1BCA0, 0x1BCA3}, Range{0x1D173, 0x1D17A},  Range{0xE0001, 0xE0001},
    Range{0xE0020, 0xE007F}, Range{0xF0000, 0xFFFFD}, Range{0x100000, 0x10FFFD}};

bool printable(std::uint32_t c) {
  return c >= 0x20 && std::none_of(kNotPrintable.begin(), kNotPrintable.end(),
                                   [c](const Range& range) { return c >= range.first && c <= range.last; });
}

// ---- reading

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<Value> read() {
    std::optional<Value> value = read_value(0);
    skip_blanks();
    if (value && at_ == text_.size()) return std::move(*value);
    const std::string_view before = text_.substr(0, at_);
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    return Error(
        ErrorKind::Config,
        fmt::format("line {}, column {}", std::count(before.begin(), before.end(), '\n') + 1, at_ - line_start + 1));
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size()); }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  // Nullopt: an error at at_.
  std::optional<Value> read_value(int depth) {
    skip_blanks();
    if (depth > kMaxDepth) return std::nullopt;
    switch (peek()) {
      case '"': {
        std::optional<std::string> text = read_string();
        return text ? std::optional(Value{std::move(*text)}) : std::nullopt;
      }
      case '[': return read_list(depth);
      case '{': return read_object(depth);
      default: return read_word();
    }
  }

  std::optional<Value> read_word() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (take("null")) return Value{None{}};
    if (take("true")) return Value{true};
    if (take("false")) return Value{false};
    if (take("NaN")) return Value{std::numeric_limits<double>::quiet_NaN()};
    if (take("Infinity")) return Value{kInfinity};
    if (take("-Infinity")) return Value{-kInfinity};
    return read_number();
  }

  std::size_t digits_at(std::size_t at) const {
    return std::min(text_.find_first_not_of("0123456789", at), text_.size()) - at;
  }

  std::optional<Value> read_number() {
    std::size_t end = at_ + (peek() == '-' ? 1 : 0);
    const std::size_t whole = end < text_.size() && text_[end] == '0' ? 1 : digits_at(end);
    if (whole == 0) return std::nullopt;
    end += whole;
    bool is_float = false;
    if (end < text_.size() && text_[end] == '.' && digits_at(end + 1) > 0) {
      end += 1 + digits_at(end + 1);
      is_float = true;
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      const bool sign = end + 1 < text_.size() && (text_[end + 1] == '+' || text_[end + 1] == '-');
      const std::size_t exponent = end + (sign ? 2 : 1);
      if (exponent < text_.size() && digits_at(exponent) > 0) {
        end = exponent + digits_at(exponent);
        is_float = true;
      }
    }
    const std::string number(text_.substr(at_, end - at_));
    at_ = end;
    if (!is_float) return Value{Integer{number == "-0" ? "0" : number}};
    return Value{std::strtod(number.c_str(), nullptr)};  // too large becomes infinity, too small 0, as in Python
  }

  std::optional<Value> read_list(int depth) {
    List list;
    ++at_;
    skip_blanks();
    if (take("]")) return Value{std::move(list)};
    for (;;) {
      std::optional<Value> item = read_value(depth + 1);
      if (!item) return std::nullopt;
      list.push_back(std::move(*item));
      skip_blanks();
      if (take("]")) return Value{std::move(list)};
      if (!take(",")) return std::nullopt;
    }
  }

  std::optional<Value> read_object(int depth) {
    Object object;
    std::unordered_map<std::string, std::size_t> places;
    ++at_;
    skip_blanks();
    if (take("}")) return Value{std::move(object)};
    for (;;) {
      skip_blanks();
      std::optional<std::string> key = peek() == '"' ? read_string() : std::nullopt;
      if (!key) return std::nullopt;
      skip_blanks();
      if (!take(":")) return std::nullopt;
      std::optional<Value> value = read_value(depth + 1);
      if (!value) return std::nullopt;
      set(object, places, std::move(*key), std::move(*value));
      skip_blanks();
      if (take("}")) return Value{std::move(object)};
      if (!take(",")) return std::nullopt;
    }
  }

  // As in a Python dict: keeps the last value, at the position of the first.
  static void set(Object& object, std::unordered_map<std::string, std::size_t>& places, std::string key, Value value) {
    const auto [place, is_new] = places.try_emplace(key, object.size());
    if (is_new) {
      object.emplace_back(std::move(key), std::move(value));
    } else {
      object[place->second].second = std::move(value);
    }
  }

  std::optional<std::string> read_string() {
    std::string out;
    for (++at_; at_ < text_.size();) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return out;
      }
      if (c == '\\') {
        if (!read_escape(out)) return std::nullopt;
        continue;
      }
      const std::size_t bytes = utf8_length(text_.substr(at_));
      if (bytes == 0 || static_cast<unsigned char>(c) < 0x20) return std::nullopt;
      out += text_.substr(at_, bytes);
      at_ += bytes;
    }
    return std::nullopt;
  }

  bool read_escape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (at_ + 1 >= text_.size()) return false;
    const char letter = text_[at_ + 1];
    if (letter != 'u') {
      const std::size_t which = kLetters.find(letter);
      if (which == std::string_view::npos) return false;
      out += kMeanings[which];
      at_ += 2;
      return true;
    }
    std::optional<std::uint32_t> c = hex_at(at_ + 2);
    if (!c) return false;
    std::size_t length = 6;
    if (*c >= 0xD800 && *c < 0xDC00 && text_.substr(at_ + 6).starts_with("\\u")) {
      const std::optional<std::uint32_t> low = hex_at(at_ + 8);
      if (!low || *low < 0xDC00 || *low > 0xDFFF) return false;
      c = 0x10000 + ((*c - 0xD800) << 10U) + (*low - 0xDC00);
      length = 12;
    }
    if (*c >= 0xD800 && *c <= 0xDFFF) return false;
    append_utf8(out, *c);
    at_ += length;
    return true;
  }

  std::optional<std::uint32_t> hex_at(std::size_t at) const {
    return at + 4 > text_.size() ? std::nullopt : parse_number<std::uint32_t>(text_.substr(at, 4), 16);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// ---- writing

struct FloatWords {
  std::string_view nan;
  std::string_view infinity;
};
constexpr FloatWords kReprWords{"nan", "inf"};
constexpr FloatWords kJsonWords{"NaN", "Infinity"};

// float.__repr__: the shortest digits that read back as the same value; with an exponent below 1e-4 and from 1e16 on.
std::string float_text(double value, const FloatWords& words) {
  if (std::isnan(value)) return std::string(words.nan);
  const std::string sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return sign + std::string(words.infinity);
  std::array<char, 64> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value), std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));
  const std::size_t e = text.find('e');
  const int exponent = std::atoi(std::string(text.substr(e + 1)).c_str());
  std::string digits(text.substr(0, e));
  std::erase(digits, '.');
  if (exponent < -4 || exponent >= 16) {
    return sign + digits.substr(0, 1) + (digits.size() > 1 ? "." + digits.substr(1) : "") +
           fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const std::size_t point = static_cast<std::size_t>(exponent) + 1;
  if (point >= digits.size()) return sign + digits + std::string(point - digits.size(), '0') + ".0";
  return sign + digits.substr(0, point) + "." + digits.substr(point);
}

std::string escaped(std::uint32_t c) {
  if (c < 0x100) return fmt::format("\\x{:02x}", c);
  return c < 0x10000 ? fmt::format("\\u{:04x}", c) : fmt::format("\\U{:08x}", c);
}

// str.__repr__
std::string string_repr(std::string_view text) {
  const bool doubled = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = doubled ? '"' : '\'';
  std::string out(1, quote);
  while (!text.empty()) {
    const auto [c, bytes] = first_of(text);
    if (c == static_cast<unsigned char>(quote) || c == '\\') {
      out += {'\\', static_cast<char>(c)};
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (printable(c)) {
      out += text.substr(0, bytes);
    } else {
      out += escaped(c);
    }
    text.remove_prefix(bytes);
  }
  return out + quote;
}

std::string string_json(std::string_view text) {
  constexpr std::string_view kSpecial = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  std::string out = "\"";
  while (!text.empty()) {
    const auto [c, bytes] = first_of(text);
    const std::size_t special = c < 0x80 ? kSpecial.find(static_cast<char>(c)) : std::string_view::npos;
    if (special != std::string_view::npos) {
      out += {'\\', kLetters[special]};
    } else if (c >= 0x20 && c < 0x7F) {
      out += static_cast<char>(c);
    } else if (c < 0x10000) {
      out += fmt::format("\\u{:04x}", c);
    } else {
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((c - 0x10000) >> 10U), 0xDC00 + ((c - 0x10000) & 0x3FFU));
    }
    text.remove_prefix(bytes);
  }
  return out + '"';
}

// The separators within a list or object.
struct Separators {
  std::string_view item;
  std::string_view key;
};

template <class Write>
std::string join_list(const List& list, const Separators& separators, Write write) {
  std::string out = "[";
  for (const Value& item : list) {
    if (out.size() > 1) out += separators.item;
    out += write(item);
  }
  return out + "]";
}

template <class Write, class WriteKey>
std::string join_object(const Object& object, const Separators& separators, Write write, WriteKey write_key) {
  std::string out = "{";
  for (const auto& [key, value] : object) {
    if (out.size() > 1) out += separators.item;
    out += write_key(key);
    out += separators.key;
    out += write(value);
  }
  return out + "}";
}

struct Repr {
  std::string operator()(None) const { return "None"; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(const Integer& value) const { return value.digits; }
  std::string operator()(double value) const { return float_text(value, kReprWords); }
  std::string operator()(const std::string& value) const { return string_repr(value); }
  std::string operator()(const List& list) const { return join_list(list, {", ", ": "}, to_repr); }
  std::string operator()(const Object& object) const { return join_object(object, {", ", ": "}, to_repr, string_repr); }
};

struct Dump {
  JsonStyle style;
  Separators separators() const { return style == JsonStyle::Default ? Separators{", ", ": "} : Separators{",", ":"}; }
  auto nested() const {
    return [s = style](const Value& value) { return to_json(value, s); };
  }
  std::string operator()(None) const { return "null"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(const Integer& value) const { return value.digits; }
  std::string operator()(double value) const { return float_text(value, kJsonWords); }
  std::string operator()(const std::string& value) const { return string_json(value); }
  std::string operator()(const List& list) const { return join_list(list, separators(), nested()); }
  std::string operator()(const Object& object) const {
    if (style == JsonStyle::Default) return join_object(object, separators(), nested(), string_json);
    Object sorted = object;
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return join_object(sorted, separators(), nested(), string_json);
  }
};

}  // namespace

const Value* find(const Object& object, std::string_view key) {
  const auto found =
      std::find_if(object.begin(), object.end(), [key](const auto& entry) { return entry.first == key; });
  return found == object.end() ? nullptr : &found->second;
}

Result<Value> parse_json(std::string_view text) { return Reader(text).read(); }

std::string to_repr(const Value& value) { return std::visit(Repr{}, value.data); }

std::string to_str(const Value& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  return text != nullptr ? *text : to_repr(value);
}

std::string to_json(const Value& value, JsonStyle style) { return std::visit(Dump{style}, value.data); }

}  // namespace sml::sagemaker
