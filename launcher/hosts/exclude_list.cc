#include "launcher/hosts/exclude_list.h"

#include <array>
#include <ctime>

#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "launcher/hosts/fields.h"

namespace sml::hosts {

namespace {

constexpr const char* kTime = "%Y-%m-%dT%H:%M:%SZ";

std::optional<std::int64_t> parse_time(std::string_view word) {
  std::tm parts{};
  const std::string text(word);
  const char* end = ::strptime(text.c_str(), kTime, &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return ::timegm(&parts);
}

}  // namespace

bool ExcludedHost::is_out(std::int64_t now, const std::optional<Duration>& cool_down) const {
  if (!since || !cool_down) return true;
  return now - *since < std::chrono::duration_cast<std::chrono::seconds>(*cool_down).count();
}

Result<std::vector<ExcludedHost>> parse_exclude_list(std::string_view text) {
  std::vector<ExcludedHost> out;
  for (TextCursor at(text, ""); !at.at_end(); at.take_line()) {
    std::string_view line = at.rest_of_line();
    line = line.substr(0, line.find('#'));
    const std::string_view name = take_word(line);
    if (name.empty()) continue;
    const std::string_view when = take_word(line);
    const std::optional<std::int64_t> since = parse_time(when);
    if ((!when.empty() && !since) || !take_word(line).empty()) {
      return Error(ErrorKind::Config,
                   "line " + std::to_string(at.line()) + ": \"" + show(when, 80) +
                       "\" is no time such as 2026-11-23T23:41:00Z; expected HOST, or HOST TIME, and "
                       "# before a comment");
    }
    out.push_back({std::string(name), since});
  }
  return out;
}

std::string exclude_line(std::string_view host, std::int64_t since, std::string_view why) {
  const std::time_t seconds = since;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> when{};
  const std::size_t length = std::strftime(when.data(), when.size(), kTime, &parts);
  return std::string(host) + " " + std::string(when.data(), length) + " # " + show(why, 300) + "\n";
}

}  // namespace sml::hosts
