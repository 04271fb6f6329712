#include "launcher/dialects/config_lines.h"

#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"

namespace sml::dialects {

namespace {

using std::string_view;

bool is_null(string_view plain) { return plain.empty() || plain == "~" || lower(plain) == "null"; }

// A whole number of YAML 1.1 in decimal, as Python prints it: 012 is 10, 0x1F is 31, 1_000 is 1000. Other texts stay.
std::string in_decimal(string_view plain) {
  std::string digits(plain);
  std::erase(digits, '_');
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.erase(0, 1);
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0b")) {
    base = digits[1] == 'x' ? 16 : 2;
    digits.erase(0, 2);
  } else if (digits.size() > 1 && digits.front() == '0') {
    base = 8;
  }
  const auto number = parse_number<std::uint64_t>(digits, base);
  if (!number || plain.front() == '_') return std::string(plain);
  return fmt::format("{}{}", negative && *number > 0 ? "-" : "", *number);
}

// Takes libyaml's events one by one, without recursion. Aliases are refused, as they may grow without end, and deep
// mappings, as libyaml's time is the square of their depth.
class ConfigReader {
 public:
  ConfigReader(string_view text, string_view path) : text_(text), path_(path) {}
  ConfigReader(const ConfigReader&) = delete;
  ConfigReader& operator=(const ConfigReader&) = delete;
  ~ConfigReader() {
    yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }

  Result<std::vector<ConfigLine>> read() {
    if (yaml_parser_initialize(&parser_) == 0) return Error(ErrorKind::Config, show(path_) + ": no memory to read it");
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text_.data()), text_.size());
    do {
      yaml_event_delete(&event_);
      if (yaml_parser_parse(&parser_, &event_) == 0) return broken();
      if (!take()) return refused();
    } while (event_.type != YAML_STREAM_END_EVENT);
    return std::move(lines_);
  }

 private:
  std::string where(std::size_t line) const { return fmt::format("{}:{}", show(path_), line + 1); }

  Error broken() const {
    // A scanner's context is where a quote begins; a reader has no mark.
    std::size_t line = (parser_.error == YAML_SCANNER_ERROR ? parser_.context_mark : parser_.problem_mark).line;
    if (parser_.error == YAML_READER_ERROR) {
      const string_view before = text_.substr(0, parser_.problem_offset);
      line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    }
    return {ErrorKind::Config, fmt::format("{}: is no YAML ({}); correct this line or one before it", where(line),
                                           parser_.problem == nullptr ? "no memory" : parser_.problem)};
  }

  Error refused() const {
    constexpr string_view kForm =
        "is no \"key: value\" with one text or number; write it so, without lists, aliases and tags";
    return {ErrorKind::Config, fmt::format("{}: {}", where(event_.start_mark.line), kForm)};
  }

  // False: the event is none that is read.
  bool take() {
    if (in_list_ && event_.type != YAML_SEQUENCE_END_EVENT) return false;
    switch (event_.type) {
      case YAML_DOCUMENT_START_EVENT: return ++documents_ == 1;
      case YAML_MAPPING_START_EVENT: return begin_mapping();
      case YAML_MAPPING_END_EVENT: --depth_; return true;
      case YAML_SCALAR_EVENT: return take_text();
      case YAML_SEQUENCE_START_EVENT: in_list_ = true; return line_.has_value();
      case YAML_SEQUENCE_END_EVENT:
        in_list_ = false;
        line_.reset();
        return true;
      default: return event_.type != YAML_ALIAS_EVENT;
    }
  }

  bool begin_mapping() {
    constexpr int kDeepest = 32;
    if (depth_ > 0 && !line_) return false;  // a key that is a mapping
    if (depth_ == 1) section_ = line_->key;
    line_.reset();
    return ++depth_ <= kDeepest;
  }

  bool take_text() {
    const auto& scalar = event_.data.scalar;
    std::string text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    if (scalar.tag != nullptr || text.find('\0') != std::string::npos) return false;
    const bool plain = scalar.style == YAML_PLAIN_SCALAR_STYLE;
    const bool nothing = plain ? is_null(text) : text.empty();
    if (depth_ == 0) return nothing;
    if (!line_) {
      line_ = {where(event_.start_mark.line), depth_ == 1 ? std::string() : section_, std::move(text), {}};
      return true;
    }
    if (!nothing) {
      line_->value = plain ? in_decimal(text) : std::move(text);
      lines_.push_back(std::move(*line_));
    }
    line_.reset();
    return true;
  }

  string_view text_;
  string_view path_;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
  int documents_ = 0;
  int depth_ = 0;  // of mappings that are open
  bool in_list_ = false;
  std::string section_;
  std::optional<ConfigLine> line_;  // its key was read; the value comes next
  std::vector<ConfigLine> lines_;
};

}  // namespace

std::optional<bool> truth(string_view text) {
  const std::string word = lower(text);
  if (word == "true" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "no" || word == "off") return false;
  return std::nullopt;
}

Result<std::vector<ConfigLine>> config_lines(string_view text, string_view path) {
  if (text.empty()) return std::vector<ConfigLine>();
  return ConfigReader(text, path).read();
}

}  // namespace sml::dialects
