#include "launcher/run/restarts/restart_controller.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <random>
#include <utility>
#include <variant>

#include "common/core/exit_status.h"
#include "common/core/text.h"
#include "launcher/hosts/exclude_list.h"
#include "launcher/report/outcome/job_report.h"
#include "launcher/run/restarts/exclude_file.h"

namespace sml::run {

namespace {

std::int64_t unix_seconds() {
  using std::chrono::seconds;
  return std::chrono::duration_cast<seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

bool lacks_processes(const ExitStatus& status) {
  const auto* failed = std::get_if<SpawnFailed>(&status);
  return failed != nullptr && failed->step == SpawnStep::Fork &&
         (failed->sys_errno == EAGAIN || failed->sys_errno == ENOMEM);
}

std::uint32_t number_of(const attempt::Attempt& attempt) { return attempt.plan().job.attempt + 1; }

// The entry of the report for an attempt that ends now.
report::AttemptRecord record_of(const attempt::Attempt& attempt, const attempt::AttemptOutcome& outcome) {
  const plan::JobMap& map = attempt.plan().map;
  report::AttemptRecord out{.number = number_of(attempt),
                            .started_unix = outcome.started_unix,
                            .lasted = Clock::now() - outcome.facts.started,
                            .exit_code = outcome.verdict.exit_code,
                            .words = report::in_words(outcome.verdict),
                            .world_size = map.world_size()};
  for (const plan::MappedHost& host : map.hosts) {
    if (!host.ranks.empty()) out.hosts.push_back(host.host.name);
  }
  if (outcome.verdict.root_cause != nullptr) out.failure = *outcome.verdict.root_cause;
  return out;
}

// For jobs not to come back all at once, the nanosecond in which this one has ended is as good as a random number.
double chance_at(TimePoint now) {
  std::minstd_rand random(static_cast<std::minstd_rand::result_type>(now.time_since_epoch().count()));
  return std::uniform_real_distribution<double>()(random);
}

}  // namespace

RestartController::RestartController(Deps deps)
    : deps_(std::move(deps)),
      options_(deps_.options.restart),
      exclusion_(options_.exclude),
      changing_hosts_(deps_.loop, deps_.last->plan().map, {options_, *this, deps_.events, deps_.printer, deps_.head}),
      rest_timer_(deps_.loop) {}

// ---- which hosts

HostPool::MayConnect RestartController::may_come() const {
  const bool may = deps_.last->machines().empty() && deps_.last->spares().may_come();
  return may ? HostPool::MayConnect::All : HostPool::MayConnect::Nobody;
}

bool RestartController::is_ready(HostId id) const {
  const attempt::ElasticJoin& joining = deps_.last->elastic().joining();
  return !joining.is_unfit(id) && (deps_.last->spares().is_ready(id) || joining.may_join(id));
}

std::vector<HostId> RestartController::out() const {
  std::vector<HostId> out = deps_.fleet.lost();
  const std::vector<HostId> excluded = exclusion_.out(Clock::now());
  out.insert(out.end(), excluded.begin(), excluded.end());
  out.insert(out.end(), unwell_.begin(), unwell_.end());
  return out;
}

Result<plan::JobMap> RestartController::next() const { return changing_hosts_.next(deps_.last->planned().map, out()); }

Result<plan::JobMap> RestartController::next_round(const plan::JobMap& round, std::vector<HostId> out) const {
  const std::vector<HostId> others = this->out();
  out.insert(out.end(), others.begin(), others.end());
  return changing_hosts_.next_round(round, out);
}

std::optional<plan::JobMap> RestartController::next_map() {
  Result<plan::JobMap> map = next();
  if (map) return std::move(*map);
  why_none_ = map.error().message();
  return std::nullopt;
}

// Once no listed host can have workers any more, an elastic Horovod job ends, as under Horovod's launcher.
bool RestartController::may_mend() const {
  const bool for_good = options_.elastic == Elastic::Horovod && !options_.exclude.cool_down;
  return changing_hosts_.may_mend() && !(for_good && changing_hosts_.lists_only(exclusion_.out(Clock::now())));
}

// Ends running workers for new hosts, unless some have ended already, as the others soon will.
void RestartController::look_for_growth() {
  attempt::Attempt& now = *deps_.last;
  if (now.elastic().hears_of_hosts()) {
    if (changing_hosts_.is_quiet(Clock::now())) now.elastic().look_at_hosts();
    return;
  }
  const bool all_run = now.workers().table().workers_left() == now.plan().map.world_size();
  if (!now.runs() || !all_run) return;
  const Result<plan::JobMap> map = next();
  if (!map) return;
  const std::string why = changing_hosts_.reason_to_regroup(now.planned().map, *map, Clock::now());
  if (why.empty()) return;
  deps_.printer.print("the workers are ended, and start anew: " + why);
  now.stop_to_regroup();
}

// The user knows already which hosts an elastic job has done without.
std::vector<std::string> RestartController::blame(const attempt::AttemptOutcome& outcome) {
  for (const HostId host : outcome.hosts_out) static_cast<void>(exclusion_.failed(host, Clock::now()));
  const report::JobOutcome& verdict = outcome.verdict;
  if (verdict.by != report::FailureCause::Worker || verdict.root_cause == nullptr) return {};
  const plan::JobMap& map = deps_.last->plan().map;
  const HostIndex index = map.ranks[verdict.root_cause->rank.value()].host;
  const plan::MappedHost& host = map.hosts[index.value()];
  std::vector<std::string> news = exclude(index, verdict);
  if (!lacks_processes(verdict.root_cause->status)) return news;
  unwell_.push_back(host.id);
  if (next()) {
    news.push_back(host.host.name + " is out: it is not well, no worker can be started there");
  } else {
    unwell_.pop_back();  // no other host can take its place
  }
  return news;
}

std::vector<std::string> RestartController::exclude(HostIndex index, const report::JobOutcome& verdict) {
  const plan::MappedHost& host = deps_.last->plan().map.hosts[index.value()];
  const std::optional<std::uint32_t> failures = exclusion_.failed(host.id, Clock::now());
  if (!failures) return {};
  const std::string why =
      std::to_string(*failures) + (*failures == 1 ? " attempt has" : " attempts have") + " failed there";
  deps_.events.publish(report::HostExcluded{host.id, *failures});
  if (const std::string& file = options_.exclude.file; !file.empty()) {
    const std::string words = why + "; " + report::in_words(verdict);
    deps_.files.write("--exclude-file", [file, line = hosts::exclude_line(host.host.name, unix_seconds(), words)] {
      return append_line(file, line);
    });
  }
  return {host.host.name + " is out: " + why + " (--exclude-after)"};
}

// ---- whether

bool RestartController::ended(const attempt::AttemptOutcome& outcome, const Signs& signs) {
  const std::vector<std::string> news = blame(outcome);
  const PastAttempt& last = note(outcome, signs);
  const Decision decision = decide(options_, history_, chance_at(last.ended));
  if (const auto* job_ends = std::get_if<EndJob>(&decision)) {
    for (const std::string& line : news) deps_.printer.print(line);
    why_none_ = job_ends->why;
    return false;
  }
  if (!last.is_no_restart) ++used_;
  if (earlier_.size() == kRemembered) earlier_.erase(earlier_.begin());
  earlier_.push_back(record_of(*deps_.last, outcome));
  const TimePoint now = Clock::now();
  rest_ = std::max(std::get<TryAgain>(decision).delay, deps_.fleet.lost_workers_end().value_or(now) - now);
  tell(outcome, news);
  return true;
}

const PastAttempt& RestartController::note(const attempt::AttemptOutcome& outcome, const Signs& signs) {
  const Result<plan::JobMap> map = next();
  const plan::JobMap& ran = deps_.last->plan().map;
  PastAttempt& last = history_.emplace_back(past_attempt(outcome.facts, outcome.verdict, Clock::now()));
  if (const report::AttemptFacts::WorkerEnd* root = outcome.verdict.root_cause) {
    last.root = ran.hosts[ran.ranks[root->rank.value()].host.value()].id;
  }
  last.resets = outcome.resets;
  used_ += outcome.resets;
  const std::size_t hosts_lost = deps_.fleet.lost().size() - other_names_;
  const bool lost_some = hosts_lost > std::exchange(hosts_lost_, hosts_lost);
  last.host_is_out = hosts_lost > 0;
  const bool lost_before = last.cause == report::FailureCause::Host && outcome.started_unix == 0 && lost_some;
  last.is_no_restart = lost_before || last.cause == report::FailureCause::Regroup;
  if (!map && !may_mend()) last.no_hosts = map.error().message();
  last.signs = signs;
  return last;
}

void RestartController::tell(const attempt::AttemptOutcome& outcome, const std::vector<std::string>& news) const {
  const report::JobOutcome& verdict = outcome.verdict;
  deps_.events.publish(report::AttemptFails{
      earlier_.back().number, verdict.exit_code, report::in_words(verdict),
      verdict.root_cause != nullptr ? std::optional(verdict.root_cause->rank) : std::nullopt, rest_});
  std::vector<std::string> lines = news;
  if (deps_.options.verbosity != Verbosity::Quiet) {
    lines = report::attempt_report(outcome.facts, verdict);
    lines.insert(lines.end(), news.begin(), news.end());
    lines.push_back(announcement());
  }
  for (const std::string& line : lines) deps_.printer.print(line);
}

// "attempt 1 failed with status 3; restart 1 of 4 in 1s"
std::string RestartController::announcement() const {
  constexpr Duration kUnseen = std::chrono::milliseconds(50);
  const report::AttemptRecord& last = earlier_.back();
  const std::string attempt = "attempt " + std::to_string(last.number);
  if (history_.back().cause == report::FailureCause::Regroup) {
    return attempt + " has ended for that; the next follows, and is no restart";
  }
  if (history_.back().is_no_restart) {
    return attempt + " has not started its workers; the next follows, and is no restart";
  }
  const auto delay = std::chrono::round<std::chrono::milliseconds>(rest_);
  return attempt + " failed with status " + std::to_string(last.exit_code) + "; restart " + std::to_string(used_) +
         (options_.window ? "" : " of " + std::to_string(options_.max)) +
         (delay < kUnseen ? " now" : " in " + format_duration(delay));
}

// ---- when

// Not before the last worker of a lost host has ended, which the launcher cannot observe.
void RestartController::rest(std::function<void()> then) {
  const TimePoint wanted = Clock::now() + std::exchange(rest_, Duration::zero());
  rest_timer_.expires_at(std::max(wanted, deps_.fleet.lost_workers_end().value_or(wanted)));
  rest_timer_.async_wait([this, then = std::move(then)](boost::system::error_code error) {
    if (error || rest_timer_.expiry() > Clock::now()) return;
    if (!deps_.last->is_cleared()) return;  // the agents are leaving
    const std::optional<Duration> wait = changing_hosts_.wait_for(next(), Clock::now());
    rest_ = wait.value_or(Duration::zero());
    if (deps_.fleet.lost_workers_end() || wait) return rest(then);
    then();
  });
}

bool RestartController::can_do_without_lost() {
  if (may_mend() || next_map()) return true;
  end_rest();  // hosts need time to leave
  return false;
}

// ---- for the report

std::vector<report::AttemptRecord> RestartController::all(const attempt::AttemptOutcome& outcome) const {
  std::vector<report::AttemptRecord> out = earlier_;
  const bool at_rest = !out.empty() && out.back().number == number_of(*deps_.last);
  if (!at_rest) out.push_back(record_of(*deps_.last, outcome));
  return out;
}

}  // namespace sml::run
