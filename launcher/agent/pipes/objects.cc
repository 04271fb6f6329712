#include "launcher/agent/pipes/objects.h"

#include <numeric>
#include <optional>
#include <utility>

namespace sml::fifos {

namespace {

// Parses the small part of JSON that a manifest uses.
class ManifestReader {
 public:
  explicit ManifestReader(std::string_view text) : text_(text) {}

  // Consumes `c` if it comes next; returns whether it did.
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  std::optional<std::string> string();
  Error expected(std::string_view what) const {
    return Error(ErrorKind::Config, "byte " + std::to_string(at_) + ": expected " + std::string(what));
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  bool escape(std::string& out);
  std::optional<std::uint32_t> unit();
  bool unicode(std::string& out);

  std::string_view text_;
  std::size_t at_ = 0;
};

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

std::optional<std::uint32_t> ManifestReader::unit() {
  constexpr std::size_t kDigits = 4;
  if (text_.size() - at_ < kDigits) return std::nullopt;
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < kDigits; ++i) {
    constexpr std::string_view kHex = "0123456789abcdef0123456789ABCDEF";
    const std::size_t digit = kHex.find(text_[at_ + i]);
    if (digit == std::string_view::npos) return std::nullopt;
    value = value << 4 | static_cast<std::uint32_t>(digit % 16);
  }
  at_ += kDigits;
  return value;
}

// Reads the digits after "\u"; a surrogate must be followed by its other half.
bool ManifestReader::unicode(std::string& out) {
  const std::optional<std::uint32_t> first = unit();
  if (!first || (*first >= 0xDC00 && *first < 0xE000)) return false;
  if (*first < 0xD800 || *first >= 0xE000) {
    append_utf8(out, *first);
    return true;
  }
  if (text_.substr(at_, 2) != "\\u") return false;
  at_ += 2;
  const std::optional<std::uint32_t> second = unit();
  if (!second || *second < 0xDC00 || *second >= 0xE000) return false;
  append_utf8(out, 0x10000 + ((*first - 0xD800) << 10) + (*second - 0xDC00));
  return true;
}

bool ManifestReader::escape(std::string& out) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
  if (at_ >= text_.size()) return false;
  const char c = text_[at_++];
  if (c == 'u') return unicode(out);
  const std::size_t index = kNames.find(c);
  if (index == std::string_view::npos) return false;
  out += kValues[index];
  return true;
}

std::optional<std::string> ManifestReader::string() {
  if (!take('"')) return std::nullopt;
  std::string out;
  while (at_ < text_.size() && text_[at_] != '"') {
    const char c = text_[at_];
    if (static_cast<unsigned char>(c) < 0x20) return std::nullopt;
    ++at_;
    if (c != '\\') {
      out += c;
    } else if (!escape(out)) {
      return std::nullopt;
    }
  }
  if (!take('"')) return std::nullopt;
  return out;
}

Result<std::string> read_prefix(ManifestReader& in, std::string_view folder) {
  constexpr std::string_view kObject = R"({"prefix": "..."} as the first item)";
  if (!in.take('{') || in.string() != "prefix" || !in.take(':')) return in.expected(kObject);
  std::optional<std::string> prefix = in.string();
  if (!prefix || !in.take('}')) return in.expected(kObject);
  if (prefix->starts_with("s3://")) {
    return in.expected("a prefix of local files; what is in S3 has to be downloaded first");
  }
  if (prefix->find('\0') != std::string::npos) return in.expected("a prefix without a NUL byte");
  return prefix->starts_with('/') ? *prefix : std::string(folder) + "/" + *prefix;
}

}  // namespace

Result<std::vector<std::string>> parse_manifest(std::string_view text, std::string_view folder) {
  ManifestReader in(text);
  if (!in.take('[')) return in.expected(R"(a manifest: [{"prefix": "..."}, "key", ...])");
  const Result<std::string> prefix = read_prefix(in, folder);
  if (!prefix) return prefix.error();
  std::vector<std::string> out;
  while (in.take(',')) {
    const std::optional<std::string> key = in.string();
    if (!key || key->empty()) return in.expected("a key in quotes");
    if (key->find('\0') != std::string::npos) return in.expected("a key without a NUL byte");
    out.push_back(*prefix + *key);
  }
  if (!in.take(']')) return in.expected("a comma and another key, or the end of the list");
  if (!in.at_end()) return in.expected("nothing behind the list");
  if (out.empty()) return in.expected("at least one key behind the prefix");
  return out;
}

std::vector<std::uint32_t> shuffled(std::uint32_t count, std::uint64_t seed, std::uint32_t epoch) {
  std::vector<std::uint32_t> out(count);
  std::iota(out.begin(), out.end(), 0U);
  std::uint64_t state = seed + 0x9E3779B97F4A7C15U * (epoch + 1ULL);
  const auto draw = [&state] {  // splitmix64
    state += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
  };
  for (std::uint32_t i = count; i > 1; --i) std::swap(out[i - 1], out[draw() % i]);
  return out;
}

}  // namespace sml::fifos
