#include "launcher/transport/ssh/ssh_config.h"

#include <algorithm>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "launcher/transport/ssh/ssh_error.h"

namespace sml::ssh {
namespace {

constexpr std::size_t kMaxIncludeDepth = 16;

std::string_view trimmed(std::string_view text) { return trim(text, " \t\r\f\v"); }

// "a "b c" d" → words; double quotes group, '#' at a word's start ends the line.
Result<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  for (text = trimmed(text); !text.empty() && text.front() != '#'; text = trimmed(text)) {
    const bool quoted = text.front() == '"';
    if (quoted) text.remove_prefix(1);
    const auto end = quoted ? text.find('"') : text.find_first_of(" \t");
    if (quoted && end == std::string_view::npos) return Error(ErrorKind::Config, "a quote is not closed");
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end == std::string_view::npos ? end : end + (quoted ? 1 : 0)));
  }
  return words;
}

Error at(Error error, const std::string& path, std::size_t line) {
  return std::move(error).in(show(path) + " line " + std::to_string(line));
}

}  // namespace

bool matches_pattern(std::string_view text, std::string_view pattern) {
  // Greedy with one point to go back to: linear in practice, at most |text|·|pattern| steps for any pattern.
  std::size_t t = 0, p = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || lower(pattern[p]) == lower(text[t]))) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool matches_pattern_list(std::string_view text, const std::vector<std::string>& patterns) {
  bool matched = false;
  for (std::string_view pattern : patterns) {
    const bool negated = !pattern.empty() && pattern.front() == '!';
    if (negated) pattern.remove_prefix(1);
    if (!matches_pattern(text, pattern)) continue;
    if (negated) return false;
    matched = true;
  }
  return matched;
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> items;
  while (!text.empty()) {
    if (const std::string_view item = take_until(text, separator); !item.empty()) items.emplace_back(item);
  }
  return items;
}

bool is_plain_word(const std::string& text) {
  constexpr std::string_view kAlso = "._:-@+%";
  const auto plain = [&](char c) { return is_letter_or_digit(c) || kAlso.find(c) != kAlso.npos; };
  return !text.empty() && text.size() <= 255 && text.front() != '-' && std::all_of(text.begin(), text.end(), plain);
}

Result<std::string> expand_tokens(std::string_view text, const std::map<char, std::string>& tokens) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    const char token = ++i < text.size() ? text[i] : '\0';
    const auto found = tokens.find(token);
    if (token == '%') {
      result += '%';
    } else if (found != tokens.end()) {
      result += found->second;
    } else {
      return Error(ErrorKind::Config, "'" + show(text) + "' in the ssh config has an unknown %-token");
    }
  }
  return result;
}

struct SshConfig::Line {
  std::string keyword;  // lower case
  std::string_view rest;
};

SshConfig::SshConfig(ConfigSubject subject, ConfigFiles files)
    : subject_(std::move(subject)), files_(std::move(files)) {}

const std::vector<std::string>& SshConfig::words(std::string_view keyword) const {
  static const std::vector<std::string> none;
  const auto found = values_.find(keyword);
  return found == values_.end() ? none : found->second;
}

const std::string& SshConfig::value(std::string_view keyword) const {
  static const std::string none;
  const auto& all = words(keyword);
  return all.empty() ? none : all.front();
}

std::string SshConfig::current_host() const {
  const std::string& pattern = value("hostname");
  if (pattern.empty()) return subject_.name;
  const auto expanded = expand_tokens(pattern, {{'h', subject_.name}});
  return expanded ? *expanded : pattern;
}

std::string SshConfig::current_user() const {
  if (!subject_.user.empty()) return subject_.user;
  return value("user").empty() ? subject_.local_user : value("user");
}

Result<void> SshConfig::read_file(const std::string& path, ConfigRole role, const std::string& include_folder) {
  active_ = true;
  const FileTrust trust = role == ConfigRole::Named   ? FileTrust::FoldersToo
                          : role == ConfigRole::Users ? FileTrust::OwnersOnly
                                                      : FileTrust::Any;
  const auto text = files_.read(path, trust);
  if (!text && (role == ConfigRole::Named || text.error().kind() != ErrorKind::Io)) {
    return Error(ErrorKind::Config, text.error().message()).with_hint(text.error().hint());
  }
  if (text && *text) return read_text(**text, path, include_folder, 0);
  if (role == ConfigRole::Named) return Error(ErrorKind::Config, "there is no ssh config " + show(path));
  return {};
}

Result<void> SshConfig::read_text(std::string_view text, const std::string& path, const std::string& folder,
                                  std::size_t depth) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = trimmed(take_until(text, '\n'));
    if (line.empty() || line.front() == '#') continue;
    // "Keyword value", "Keyword=value" and "Keyword = value" are the same.
    const auto key_end = std::min(line.find_first_of(" \t="), line.size());
    std::string_view rest = trimmed(line.substr(key_end));
    if (!rest.empty() && rest.front() == '=') rest = trimmed(rest.substr(1));
    if (auto taken = take_line({lower(line.substr(0, key_end)), rest}, folder, depth); !taken) {
      return at(taken.error(), path, number);
    }
  }
  return {};
}

Result<void> SshConfig::take_line(const Line& line, const std::string& folder, std::size_t depth) {
  if (line.keyword == "proxycommand") {
    if (active_ && !line.rest.empty()) values_.try_emplace(line.keyword, 1, std::string(line.rest));
    return {};
  }
  auto split = split_words(line.rest);
  if (!split) return split.error();
  if (line.keyword == "host") {
    active_ = matches_pattern_list(subject_.name, *split);
  } else if (line.keyword == "match") {
    const auto matched = match(*split);
    if (!matched) return matched.error();
    active_ = *matched;
  } else if (line.keyword == "include") {
    if (active_) return include(*split, folder, depth);
  } else if (!active_ || split->empty()) {
    return {};
  } else if (line.keyword == "identityfile") {
    identity_files_.push_back(split->front());
  } else if (line.keyword == "certificatefile") {
    certificate_files_.push_back(split->front());
  } else {
    values_.try_emplace(line.keyword, std::move(*split));
  }
  return {};
}

Result<void> SshConfig::include(const std::vector<std::string>& patterns, const std::string& folder,
                                std::size_t depth) {
  if (depth >= kMaxIncludeDepth) return Error(ErrorKind::Config, "Include goes too deep");
  for (std::string pattern : patterns) {
    if (pattern.starts_with("~/")) {
      pattern = subject_.home + pattern.substr(1);
    } else if (!pattern.starts_with('/')) {
      pattern = folder + "/" + pattern;
    }
    for (const std::string& path : files_.glob(pattern)) {
      const auto text = files_.read(path, FileTrust::OwnersOnly);
      if (!text) return Error(ErrorKind::Config, text.error().message()).with_hint(text.error().hint());
      if (!*text) continue;
      auto taken = read_text(**text, path, folder, depth + 1);
      active_ = true;  // a block that begins in an included file ends with it
      if (!taken) return taken;
    }
  }
  return {};
}

std::optional<std::string> SshConfig::subject_of(std::string_view criterion) const {
  if (criterion == "host") return current_host();
  if (criterion == "originalhost") return subject_.name;
  if (criterion == "user") return current_user();
  if (criterion == "localuser") return subject_.local_user;
  return std::nullopt;
}

Result<bool> SshConfig::exec_holds(const std::string& command) const {
  const std::string& alias = value("hostkeyalias");
  const std::string& port = subject_.port.empty() ? value("port") : subject_.port;
  auto tokens = subject_.local_tokens;
  tokens.insert({{'h', current_host()},
                 {'n', subject_.name},
                 {'k', alias.empty() ? subject_.name : alias},
                 {'p', port.empty() ? "22" : port},
                 {'r', current_user()}});
  // A value that becomes part of a shell command must not be able to be one.
  for (const char token : {'h', 'n', 'k', 'p', 'r'}) {
    if (command.find('%') != std::string::npos && !is_plain_word(tokens[token]))
      return Error(ErrorKind::Config, "'" + show(tokens[token]) + "' cannot be used in Match exec");
  }
  const auto line = expand_tokens(command, tokens);
  if (!line) return Error(line.error()).with_hint(std::string(kUseClient));  // as for %C and %j
  if (!files_.run) return Error(ErrorKind::Config, "Match exec cannot be run");
  return files_.run(*line);
}

Result<bool> SshConfig::match(const std::vector<std::string>& criteria) const {
  bool result = true;
  for (std::size_t i = 0; i < criteria.size(); ++i) {
    const bool negated = criteria[i].starts_with('!');
    const std::string name = lower(std::string_view(criteria[i]).substr(negated ? 1 : 0));
    bool holds = false;
    if (name == "all" || name == "final") {
      holds = true;
    } else if (name == "canonical") {
      holds = false;
    } else if (i + 1 >= criteria.size()) {
      return Error(ErrorKind::Config, "Match " + show(name) + " wants a value");
    } else if (const std::string& value = criteria[++i]; name == "exec") {
      if (!result) continue;  // it does not matter any more, so nothing is run
      const auto held = exec_holds(value);
      if (!held) return held.error();
      holds = *held;
    } else if (const auto subject = subject_of(name)) {
      holds = matches_pattern_list(*subject, split_list(value, ','));
    } else {
      return Error(ErrorKind::Config, "Match " + show(name) + " is not known to the built-in SSH client")
          .with_hint(std::string(kUseClient));
    }
    result = result && holds != negated;
  }
  return result && !criteria.empty();
}

}  // namespace sml::ssh
