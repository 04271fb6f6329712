#include "launcher/sagemaker/failure_text.h"

#include <algorithm>
#include <vector>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "common/plan/environment/secrets.h"

namespace sml::sagemaker {

namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::size_t kMaxLine = 2000;

// ---- secrets

bool is_name_char(char c) { return is_letter_or_digit(c) || c == '_' || c == '-'; }

// The number of bytes of the value after a secret's name; 0 if no value follows. `skipped` is the number of bytes
// between name and value.
std::size_t value_after_name(std::string_view rest, bool is_option, std::size_t& skipped) {
  skipped = 0;
  while (skipped < rest.size() && (rest[skipped] == '"' || rest[skipped] == '\'')) ++skipped;
  const bool assigned = skipped < rest.size() && (rest[skipped] == '=' || rest[skipped] == ':');
  if (assigned) ++skipped;
  const std::size_t blanks = skipped;
  while (skipped < rest.size() && kBlanks.find(rest[skipped]) != std::string_view::npos) ++skipped;
  if (!assigned && (!is_option || skipped == blanks)) return 0;
  if (skipped < rest.size() && (rest[skipped] == '"' || rest[skipped] == '\'')) {
    const char quote = rest[skipped++];
    return std::min(rest.find(quote, skipped), rest.size()) - skipped;
  }
  return std::min(rest.find_first_of(" \t\n\r\"',;)]}", skipped), rest.size()) - skipped;
}

// ---- parts

// Valid UTF-8 without control characters other than newline: the platform rejects or garbles others.
std::string clean(std::string_view text) {
  std::string out;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += show(text.substr(begin, end - begin), kMaxLine);
    if (end == text.size()) break;
    out += '\n';
    begin = end + 1;
  }
  return out;
}

std::string cut(std::string_view text, TextLimit limit) {
  std::size_t at = 0;
  for (std::size_t characters = 0; at < text.size() && characters < limit.characters; ++characters) {
    const std::size_t length = std::max<std::size_t>(utf8_length(text.substr(at)), 1);
    if (at + length > limit.bytes) break;
    at += length;
  }
  return std::string(text.substr(0, at));
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

// The best explanation: the exception that the worker reported, else its last line that contains words.
std::string reason_of(const report::AttemptFacts::WorkerEnd& end) {
  if (!end.error.message.empty()) return std::string(first_line(end.error.message));
  for (auto line = end.last_lines.rbegin(); line != end.last_lines.rend(); ++line) {
    if (line->find_first_not_of(" \t\r~^") != std::string::npos) return *line;
  }
  return "";
}

void add_line(std::string& out, std::string_view line) {
  if (!out.empty()) out += '\n';
  out += line;
}

// The last lines are the end of a traceback, and matter more towards the end: if there is no room for all, the first
// ones are dropped.
std::string last_lines_within(const std::vector<std::string>& lines, std::size_t room) {
  std::string out;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const std::string shown = clean(without_secrets(*line));
    if (shown.size() + 1 + out.size() > room) break;
    out = shown + (out.empty() ? "" : "\n") + out;
  }
  return out;
}

std::string consequences(const report::AttemptFacts& facts, const report::AttemptFacts::WorkerEnd& root_cause) {
  const auto others = std::count_if(facts.ends.begin(), facts.ends.end(),
                                    [&](const auto& end) { return end.by_itself && end.rank != root_cause.rank; });
  if (others == 0) return "";
  return "then " + std::to_string(others) + (others == 1 ? " other rank failed" : " other ranks failed");
}

}  // namespace

std::string without_secrets(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_name_char(text[at])) {
      out += text[at++];
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_name_char(text[end])) ++end;
    const std::string_view name = text.substr(at, end - at);
    out += name;
    at = end;
    if (!plan::names_a_secret(name)) continue;
    std::size_t skipped = 0;
    const std::size_t value = value_after_name(text.substr(end), name.starts_with("--"), skipped);
    if (value == 0) continue;
    out += text.substr(end, skipped);
    out += "***";
    at = end + skipped + value;
  }
  return out;
}

std::string failure_text(const report::AttemptFacts& facts, const report::JobOutcome& verdict, TextLimit limit) {
  if (verdict.exit_code == 0) return "";
  std::string out;
  if (verdict.root_cause == nullptr) {
    for (const std::string& line : verdict.lines) add_line(out, clean(without_secrets(line)));
    if (out.empty()) out = "failed with status " + std::to_string(verdict.exit_code);
    return cut(out, limit);
  }
  const report::AttemptFacts::WorkerEnd& root_cause = *verdict.root_cause;
  const std::string reason = reason_of(root_cause);
  if (!reason.empty()) add_line(out, clean(without_secrets(reason)));
  add_line(out, clean(without_secrets(verdict.lines.front())));
  if (!root_cause.out_of_memory.empty())
    add_line(out, "memory ran out on that host: " + clean(root_cause.out_of_memory));
  const std::string then = consequences(facts, root_cause);
  if (!then.empty()) add_line(out, then);
  const std::size_t room = std::min(limit.bytes, limit.characters);
  if (out.size() + 1 < room) {
    const std::string lines = last_lines_within(root_cause.last_lines, room - out.size() - 1);
    if (!lines.empty()) add_line(out, lines);
  }
  return cut(out, limit);
}

std::string failure_text(const Error& error, TextLimit limit) {
  std::string out = clean(without_secrets(error.message()));
  if (!error.hint().empty()) out += "\nhint: " + clean(without_secrets(error.hint()));
  return cut(out, limit);
}

}  // namespace sml::sagemaker
