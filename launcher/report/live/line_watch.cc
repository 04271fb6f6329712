#include "launcher/report/live/line_watch.h"

#include <algorithm>
#include <utility>

#include "common/core/text.h"

namespace sml::report {

namespace {

constexpr std::string_view kEnds = "\r\n";

Result<void> read_duration(std::optional<Duration>& field, std::string_view setting, std::string_view value) {
  const Result<Duration> parsed = parse_duration(value);
  if (!parsed || *parsed < WatchRule::kLeast) {
    return bad_value(setting, "first=D or every=D with a duration of 100 ms or more, such as 90, 90s, 1.5m or 2h");
  }
  field = *parsed;
  return {};
}

// Parses "NAME=VALUE" after a semicolon.
Result<void> read_setting(WatchRule& rule, std::string_view setting, std::uint32_t largest_rank) {
  const std::size_t equals = setting.find('=');
  const std::string_view name = setting.substr(0, equals);
  const std::string_view value = setting.substr(equals + 1);
  if (name == "first") return read_duration(rule.first, setting, value);
  if (name == "every") return read_duration(rule.every, setting, value);
  if (name == "ranks") {
    Result<RankSet> ranks = RankSet::parse(value, largest_rank);
    if (!ranks) return ranks.error();
    rule.ranks = std::move(*ranks);
    return {};
  }
  return bad_value(setting, "first=D, every=D or ranks=LIST; a ; of the regular expression is written as \\x3b");
}

bool looks_like_setting(std::string_view text) {
  const std::size_t equals = text.find('=');
  return equals != std::string_view::npos && equals > 0 &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == equals;
}

void keep_beginning(std::string& partial, std::string_view more) {
  partial += more.substr(0, LineWatch::kMaxLine - std::min(partial.size(), LineWatch::kMaxLine));
}

}  // namespace

Result<WatchRule> WatchRule::parse(std::string_view text, std::uint32_t largest_rank) {
  WatchRule rule;
  for (;;) {
    const std::size_t semicolon = text.rfind(';');
    if (semicolon == std::string_view::npos || !looks_like_setting(text.substr(semicolon + 1))) break;
    if (Result<void> read = read_setting(rule, text.substr(semicolon + 1), largest_rank); !read) return read.error();
    text = text.substr(0, semicolon);
  }
  Result<LinePattern> pattern = LinePattern::parse(text);
  if (!pattern) return pattern.error();
  rule.pattern = std::move(*pattern);
  return rule;
}

LineWatch::LineWatch(WatchRule rule, std::uint32_t world_size) : rule_(std::move(rule)), ranks_(world_size) {}

void LineWatch::started(Rank rank, TimePoint now) {
  if (rule_.ranks && !rule_.ranks->contains(rank.value())) return;
  State& state = ranks_[rank.value()];
  state.phase = Phase::AwaitsFirst;
  state.since = now;
}

std::optional<LineWatch::Match> LineWatch::add(Rank rank, Stream stream, std::string_view bytes, TimePoint now) {
  State& state = ranks_[rank.value()];
  if (state.phase == Phase::NotWatched) return std::nullopt;
  const std::optional<Match> found = match(state.partials[stream == Stream::Stdout ? 0 : 1], bytes);
  if (!found) return found;
  has_matched_ = true;
  state.phase = rule_.every ? Phase::AwaitsNext : Phase::Unlimited;
  state.since = now;
  return found;
}

// Looks at the lines that end in `bytes`, and keeps the rest after the last line end. Without a group one match is
// enough.
std::optional<LineWatch::Match> LineWatch::match(std::string& partial, std::string_view bytes) const {
  const bool returns = bytes.find('\r') != std::string_view::npos;
  const bool all = rule_.pattern.has_group();
  std::optional<Match> found;
  while (!bytes.empty()) {
    const bool enough = found && !all;
    const std::size_t end = enough    ? bytes.find_last_of(kEnds)
                            : returns ? bytes.find_first_of(kEnds)
                                      : bytes.find('\n');
    if (end == std::string_view::npos) {
      keep_beginning(partial, bytes);
      break;
    }
    std::string_view line = bytes.substr(0, std::min(end, kMaxLine));
    if (!partial.empty()) {
      keep_beginning(partial, line);
      line = partial;
    }
    if (!enough && rule_.pattern.found_in(line)) {
      const Match numbers = all ? rule_.pattern.numbers_in(line) : Match{};
      if (numbers.step || !found) found = numbers;
    }
    partial.clear();
    bytes.remove_prefix(end + 1);
  }
  return found;
}

void LineWatch::ended(Rank rank) { ranks_[rank.value()] = {}; }

std::optional<Duration> LineWatch::limit(Phase phase) const {
  if (phase == Phase::AwaitsFirst) return rule_.first;
  return phase == Phase::AwaitsNext ? rule_.every : std::nullopt;
}

std::optional<NoProgress> LineWatch::on_time(TimePoint now) const {
  std::optional<NoProgress> out;
  Phase missed = Phase::NotWatched;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    const State& state = ranks_[rank];
    const std::optional<Duration> timeout = limit(state.phase);
    if (!timeout || now - state.since < *timeout || (out && state.phase != missed)) continue;
    if (!out) {
      missed = state.phase;
      const auto which = missed == Phase::AwaitsFirst ? NoProgress::Limit::First : NoProgress::Limit::Every;
      out = NoProgress{RankSet(), which, *timeout, rule_.pattern.text()};
    }
    out->ranks.add(rank);
  }
  return out;
}

}  // namespace sml::report
