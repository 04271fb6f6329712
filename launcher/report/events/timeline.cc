#include "launcher/report/events/timeline.h"

#include <algorithm>
#include <utility>

#include "common/core/text.h"

namespace sml::report {

namespace {

std::string_view words(StopCause cause) {
  static constexpr std::array<std::string_view, 7> kWords = {"a worker failed",     "a host failed",      "a signal",
                                                             "a time limit passed", "the output is gone", "sml-run",
                                                             "no progress"};
  return kWords[static_cast<std::size_t>(cause)];
}

std::string command_line(const std::vector<std::string>& words) {
  constexpr std::size_t kLongestCommandText = 4000;
  std::string out;
  for (const std::string& word : words) {
    if (out.size() < kLongestCommandText) out += (out.empty() ? "" : " ") + shell_quote(word);
  }
  return show(out, kLongestCommandText);
}

Timeline::Outcome outcome_of(const RankExited& exit) {
  if (exit.ending == Ending::Stopped) return Timeline::Outcome::Stopped;
  return succeeded(exit.status) ? Timeline::Outcome::Succeeded : Timeline::Outcome::Failed;
}

}  // namespace

// Applies each event.
struct Timeline::Listener {
  Timeline& t;
  double at;

  void operator()(const JobBegins&) const {}
  void operator()(const HostStep& e) const {
    if (Host* host = t.host(e.host)) host->steps.push_back({at, e.step});
  }
  void operator()(const HostConnected&) const {}
  void operator()(const HostReady&) const {}
  void operator()(const HostFailed& e) const {
    if (Host* host = t.host(e.host)) host->fault = Step{at, e.why.text()};
  }
  void operator()(const HostInUse& e) const {
    if (Host* host = t.host(e.host)) t.add_use(*host, at, e.use);
  }
  void operator()(const HostExcluded&) const {}
  void operator()(const HostListChanged& e) const {
    const auto mark = [this](const std::vector<std::string>& hosts, const char* what) {
      if (!hosts.empty()) t.marks_.push_back({at, "hosts", fold_names(hosts) + what});
    };
    mark(e.come, " new in the list");
    mark(e.back, " in the list again");
    mark(e.withdrawn, " not in the list any more");
  }
  void operator()(const HostEnded& e) const {
    if (Host* host = t.host(e.host)) host->end = at;
  }
  void operator()(const WorkersStart&) const { t.marks_.push_back({at, "start", "workers start"}); }
  void operator()(const RankStarted& e) const {
    t.ranks_[e.rank.value()].start = at;
    t.ranks_[e.rank.value()].pid = e.pid;
  }
  void operator()(const RanksAdded& e) const {
    t.marks_.push_back({at, "start", e.asked_by ? "ranks are spawned" : "ranks join"});
    t.enlist(e.plan->map);
    t.place(e.plan->map);
  }
  void operator()(const RankOutput& e) const { t.add_output(e, at); }
  void operator()(const RankExited& e) const {
    RankLine& rank = t.ranks_[e.rank.value()];
    rank.end = at;
    rank.status = describe(e.status);
    rank.outcome = outcome_of(e);
    if (rank.start) rank.usage = e.usage;
  }
  void operator()(const RankDrained&) const {}
  void operator()(const HostAtFence&) const {}
  void operator()(const RanksMet&) const {}
  void operator()(const SignalCame& e) const { t.marks_.push_back({at, "signal", signal_name(e.signo)}); }
  void operator()(const JobStopping& e) const {
    t.marks_.push_back({at, "stop", "stop: " + std::string(words(e.cause))});
  }
  void operator()(const AttemptFails& e) const {
    t.verdict_ = "attempt " + std::to_string(e.attempt) + " failed: " + e.verdict;
  }
  void operator()(const AttemptBegins& e) const { t.begin_again(e, at); }
  void operator()(const JobEnds& e) const {
    t.ended_ = true;
    t.root_cause_ = e.root_cause;
    t.exit_code_ = e.exit_code;
    t.verdict_ = e.verdict;
    for (const RankLastLines& lines : e.last_lines) t.ranks_[lines.rank.value()].last_lines = lines.lines;
  }
};

void Timeline::on_event(const Event& event) {
  if (const auto* begins = std::get_if<JobBegins>(&event.what)) begin(*begins, event.at);
  if (hosts_.empty()) return;
  ++events_;
  const double at = std::max(0.0, seconds(event.at));
  end_ = std::max(end_, at);
  std::visit(Listener{*this, at}, event.what);
}

void Timeline::runs_on(TimePoint now) { end_ = std::max(end_, seconds(now)); }

void Timeline::begin(const JobBegins& job, TimePoint at) {
  begin_ = at;
  job_id_ = job.plan->job.job_id;
  unix_time_ = job.unix_time;
  program_ = job.plan->command.empty() ? "" : job.plan->command.front();
  command_ = command_line(job.plan->command);
  enlist(job.plan->map);
  place(job.plan->map);
}

// Adds hosts that are not known yet.
void Timeline::enlist(const plan::JobMap& map) {
  ranks_.resize(std::max<std::size_t>(ranks_.size(), map.world_size()));
  drawn_.resize(std::max(drawn_.size(), map.hosts.size()));
  for (const plan::MappedHost& host : map.hosts) {
    const bool has_place = !host.ranks.empty() || host.duty == plan::HostDuty::Spare;
    if (!has_place || drawn_[host.id.value()]) continue;
    drawn_[host.id.value()] = hosts_.size();
    hosts_.push_back({host.host.name, {}, std::nullopt, std::nullopt});
  }
}

Timeline::Host* Timeline::host(HostId id) {
  if (id.value() >= drawn_.size()) return nullptr;  // it is in no plan yet
  const std::optional<std::size_t>& at = drawn_[id.value()];
  return at ? &hosts_[*at] : nullptr;
}

// Sets the hosts of the ranks in the attempt that begins.
void Timeline::place(const plan::JobMap& map) {
  for (const plan::MappedHost& host : map.hosts) {
    for (const Rank rank : host.ranks) ranks_[rank.value()].host = drawn_[host.id.value()].value_or(0);
  }
}

void Timeline::begin_again(const AttemptBegins& attempt, double at) {
  marks_.push_back({at, "restart", "attempt " + std::to_string(attempt.attempt)});
  for (RankLine& rank : ranks_) {
    if (rank.earlier.size() == kEarlier) rank.earlier.erase(rank.earlier.begin());
    rank.earlier.push_back(std::exchange(static_cast<Run&>(rank), {}));
    rank.host = rank.earlier.back().host;
  }
  enlist(attempt.plan->map);
  place(attempt.plan->map);
}

// Doubles the width: merges neighbours.
void Timeline::widen_buckets() {
  for (RankLine& rank : ranks_) {
    for (std::size_t i = 0; i < kBuckets; ++i) {
      rank.output[i] = i < kBuckets / 2 ? rank.output[2 * i] + rank.output[2 * i + 1] : 0;
    }
  }
  bucket_ *= 2;
}

// If there are too many samples, drops every second one; later ones are taken less often.
void Timeline::add_use(Host& host, double at, const HostUse& use) const {
  const double step = end_ / static_cast<double>(kUses);
  if (!host.use.empty() && at - host.use.back().first < step) return;
  if (host.use.size() >= kUses) {
    for (std::size_t i = 0; 2 * i < host.use.size(); ++i) host.use[i] = std::move(host.use[2 * i]);
    host.use.resize(kUses / 2);
  }
  host.use.emplace_back(at, use);
}

void Timeline::add_output(const RankOutput& output, double at) {
  while (at >= bucket_ * kBuckets) widen_buckets();
  ranks_[output.rank.value()].output[static_cast<std::size_t>(at / bucket_)] += output.bytes;
}

}  // namespace sml::report
