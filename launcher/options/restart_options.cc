#include "launcher/options/restart_options.h"

#include <algorithm>

#include "common/core/text.h"

namespace sml {

namespace {

using std::string_view;

constexpr int kLargestCode = 255;

template <class Number>
std::optional<Number> whole(string_view text, Number least, Number most) {
  const auto value = parse_number<Number>(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

struct Count {
  std::uint32_t failures = 1;
  std::optional<Duration> within;
};

// "5", "5/60s"
Result<Count> parse_count(string_view text) {
  string_view rest = text;
  const std::optional<std::uint32_t> failures =
      whole<std::uint32_t>(take_until(rest, '/'), 1, GiveUpRule::kMostFailures);
  Error wrong = bad_value(text, "a number of failures, with a time or without: 5 or 5/60s");
  if (!failures) return wrong;
  if (text.find('/') == string_view::npos) return Count{*failures, {}};
  const Result<Duration> within = parse_duration(rest);
  if (!within || *within <= Duration::zero()) return wrong;
  return Count{*failures, *within};
}

Result<void> take_count(GiveUpRule& rule, string_view text) {
  const Result<Count> count = parse_count(text);
  if (!count) return count.error();
  rule.failures = count->failures;
  rule.within = count->within;
  return {};
}

// "1", "101-103", "SIGSEGV"
Result<void> add_kind(GiveUpRule& rule, string_view word) {
  const bool digit = !word.empty() && word.front() >= '0' && word.front() <= '9';
  Error wrong = bad_value(word, "an exit code from 1 to 255, a range of them such as 101-103, or a signal's name");
  if (!digit) {
    const std::optional<int> signo = signal_number(word);
    if (!signo) return wrong;
    rule.signals.push_back(*signo);
    return {};
  }
  string_view rest = word;
  const std::optional<int> first = whole(take_until(rest, '-'), 1, kLargestCode);
  const bool range = word.find('-') != string_view::npos;
  const std::optional<int> last = range ? whole(rest, 1, kLargestCode) : first;
  if (!first || !last || *last < *first) return wrong;
  rule.codes.push_back({*first, *last});
  return {};
}

Result<GiveUpRule> parse_one(string_view text) {
  GiveUpRule rule{.text = std::string(text), .within = {}, .codes = {}, .signals = {}};
  string_view rest = text;
  const bool counts = text.find_first_of(":/") != string_view::npos;
  if (counts) {
    if (Result<void> count = take_count(rule, take_until(rest, ':')); !count) return count.error();
    if (rest.empty() && !text.ends_with(':')) return rule;  // for any failure
  }
  do {
    if (Result<void> kind = add_kind(rule, take_until(rest, ',')); !kind) return kind.error();
  } while (!rest.empty());
  return rule;
}

}  // namespace

Result<std::vector<GiveUpRule>> GiveUpRule::parse(string_view text) {
  std::vector<GiveUpRule> out;
  do {
    const Result<GiveUpRule> rule = parse_one(take_until(text, ';'));
    if (!rule) return rule.error();
    out.push_back(*rule);
  } while (!text.empty());
  return out;
}

bool GiveUpRule::counts(const std::optional<ExitStatus>& status) const {
  if (codes.empty() && signals.empty()) return true;
  if (!status) return false;
  if (const auto* signaled = std::get_if<Signaled>(&*status)) {
    return std::find(signals.begin(), signals.end(), signaled->signo) != signals.end();
  }
  const auto* exited = std::get_if<Exited>(&*status);
  return exited != nullptr && std::any_of(codes.begin(), codes.end(), [exited](const Codes& range) {
           return range.first <= exited->code && exited->code <= range.last;
         });
}

Result<void> ExcludeOptions::read_after(string_view text) {
  const Result<Count> count = parse_count(text);
  if (!count) return count.error();
  after = count->failures;
  within = count->within;
  return {};
}

Result<void> ExcludeOptions::read_cool_down(string_view text) {
  constexpr Duration kLeast = std::chrono::seconds(1);
  string_view rest = text;
  const Result<Duration> first = parse_duration(take_until(rest, ':'));
  const bool doubles = text.find(':') != string_view::npos;
  const Result<Duration> most = doubles ? parse_duration(rest) : first;
  if (!first || !most || *first < kLeast || *most < *first) {
    return bad_value(text, "a duration from 1s on, or two with the longer one last: 30m or 1m:1h");
  }
  cool_down = *first;
  longest_cool_down = doubles ? std::optional(*most) : std::nullopt;
  return {};
}

std::optional<Duration> ExcludeOptions::cool_down_of(std::uint32_t number) const {
  if (!cool_down || !longest_cool_down) return cool_down;
  Duration out = *cool_down;
  for (std::uint32_t i = 1; i < number && out < *longest_cool_down; ++i) out *= 2;
  return std::min(out, *longest_cool_down);
}

Result<RestartDelay> RestartDelay::parse(string_view text) {
  RestartDelay out;
  string_view rest = text;
  const Result<Duration> first = parse_duration(take_until(rest, ':'));
  const bool limited = text.find(':') != string_view::npos;
  const Result<Duration> most = limited ? parse_duration(rest) : Result<Duration>(kMost);
  if (!first || !most || (limited && *most < *first)) {
    return bad_value(text, "a duration, or two with the longer one last: 5s or 5s:2m");
  }
  out.first = *first;
  out.most = std::max(*first, *most);
  return out;
}

}  // namespace sml
