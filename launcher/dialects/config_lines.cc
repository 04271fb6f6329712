#include "launcher/dialects/config_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"

namespace sml::dialects {

namespace {

using std::string_view;

// Removes a comment, which begins the line or follows a space, and is not part of a quoted value.
string_view without_comment(string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quote != 0) {
      if (line[i] == quote) quote = 0;
    } else if (line[i] == '"' || line[i] == '\'') {
      quote = line[i];
    } else if (line[i] == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t')) {
      return line.substr(0, i);
    }
  }
  return line;
}

struct Entry {
  bool indented = false;
  string_view key;
  string_view value;  // without quotes
};

bool says_nothing(string_view value) {
  return value.empty() || value == "~" || value == "{}" || value == "[]" || lower(value) == "null";
}

// Nullopt for lines other than "key: value" with a plain value: lists, aliases, values of several lines.
std::optional<Entry> entry_of(string_view line) {
  const bool indented = line.front() == ' ';
  const string_view text = trim(line);
  const std::size_t colon = text.find(':');
  if (line.front() == '\t' || colon == string_view::npos) return std::nullopt;
  if (colon + 1 < text.size() && text[colon + 1] != ' ') return std::nullopt;
  string_view value = trim(text.substr(colon + 1));
  const string_view key = trim(text.substr(0, colon));
  if (says_nothing(value)) return Entry{indented, key, ""};
  constexpr string_view kOtherYaml = "[{&*|>!%@`-";
  const bool negative = value.size() > 1 && value[0] == '-' && value[1] >= '0' && value[1] <= '9';
  if (!negative && kOtherYaml.find(value.front()) != string_view::npos) return std::nullopt;
  const bool quoted = value.size() >= 2 && (value.front() == '"' || value.front() == '\'');
  if (quoted && (value.back() != value.front() || value.find('\\') != string_view::npos)) return std::nullopt;
  if (quoted) value = value.substr(1, value.size() - 2);
  return Entry{indented, key, value};
}

}  // namespace

std::optional<bool> truth(string_view text) {
  const std::string word = lower(text);
  if (word == "true" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "no" || word == "off") return false;
  return std::nullopt;
}

Result<std::vector<ConfigLine>> config_lines(string_view text, string_view path) {
  std::vector<ConfigLine> out;
  string_view section;
  std::uint32_t number = 0;
  text = without_byte_order_mark(text);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const string_view line = without_comment(text.substr(at, end - at));
    at = end + 1;
    std::string where = fmt::format("{}:{}", show(path), ++number);
    if (trim(line).empty() || trim(line) == "---") continue;
    const std::optional<Entry> entry = entry_of(line);
    if (!entry) {
      return Error(ErrorKind::Config, where + ": is no line of the form \"key: value\", one value each, that is known");
    }
    if (!entry->indented) section = entry->key;
    out.push_back({std::move(where), std::string(entry->indented ? section : ""), std::string(entry->key),
                   std::string(entry->value)});
  }
  return out;
}

}  // namespace sml::dialects
