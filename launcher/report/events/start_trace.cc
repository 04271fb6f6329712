#include "launcher/report/events/start_trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <variant>

#include "common/core/text.h"

namespace sml::report {

namespace {

using TraceJson = nlohmann::ordered_json;
using std::string_view;

// The kind of a step, so that a viewer colours alike what is alike.
string_view category(string_view step) {
  if (step == "starting the agent" || step == "sending the agent") return "agent";
  if (step == "preparing") return "prepare";
  return "connect";
}

// Writes spans with times since the start of the process.
class Spans {
 public:
  Spans(TimePoint zero, TimePoint now) : zero_(zero), now_(now) {}

  // Viewers draw the processes in the order of their numbers; without it, in that of their first spans.
  void name_process(std::size_t process, const std::string& text) {
    describe("process_name", process, 0, {{"name", text}});
    describe("process_sort_index", process, 0, {{"sort_index", process}});
  }
  void name_thread(std::size_t process, std::size_t thread, const std::string& text) {
    describe("thread_name", process, thread, {{"name", text}});
  }
  void add(std::size_t process, string_view text, string_view kind, TimePoint from, std::optional<TimePoint> to,
           std::size_t thread = 0) {
    TraceJson span{{"ph", "X"},
                   {"name", text},
                   {"cat", kind},
                   {"pid", process},
                   {"tid", thread},
                   {"ts", microseconds(from)},
                   {"dur", std::max(0.0, microseconds(to.value_or(now_)) - microseconds(from))}};
    if (!to) span["args"] = {{"open", true}};
    out_.push_back(std::move(span));
  }
  void mark(std::size_t process, const std::string& text, TimePoint at) {
    out_.push_back({{"ph", "i"}, {"name", text}, {"pid", process}, {"tid", 0}, {"ts", microseconds(at)}, {"s", "p"}});
  }
  TraceJson take() { return std::move(out_); }

 private:
  void describe(string_view what, std::size_t process, std::size_t thread, TraceJson args) {
    out_.push_back({{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", std::move(args)}});
  }
  double microseconds(TimePoint at) const { return std::max(0.0, in_seconds(at - zero_) * 1e6); }

  TimePoint zero_;
  TimePoint now_;
  TraceJson out_ = TraceJson::array();
};

}  // namespace

struct StartTrace::Listener {
  StartTrace& t;
  TimePoint at;

  void operator()(const HostStep& e) const {
    Host* host = t.host(e.host);
    if (host != nullptr && host->steps.size() < kMostSteps && !host->ready) host->steps.push_back({e.step, at});
  }
  void operator()(const HostReady& e) const {
    Host* host = t.host(e.host);
    if (host == nullptr || host->ready) return;
    host->ready = at;
    const auto waits = [](const Host& one) { return one.ranks > 0 && !one.ready; };
    if (std::none_of(t.hosts_.begin(), t.hosts_.end(), waits)) t.all_ready_ = at;
  }
  void operator()(const HostFailed& e) const {
    Host* host = t.host(e.host);
    if (host == nullptr || host->failed) return;
    host->failed = at;
    host->fault = e.why.message();
  }
  void operator()(const WorkersStart&) const { t.workers_started_ = at; }
  void operator()(const RankStarted& e) const {
    if (e.rank.value() >= t.host_of_rank_.size()) return;
    Host& host = t.hosts_[t.host_of_rank_[e.rank.value()]];
    ++host.started;
    host.last_start = std::max(host.last_start, at);
  }
  void operator()(const RankOutput& e) const { t.spoke(e.rank, at); }
  void operator()(const RankExited& e) const { t.spoke(e.rank, at); }
  void operator()(const HostAtFence& e) const {
    Host* host = t.host(e.host);
    if (host == nullptr || host->at_fence) return;
    host->at_fence = at;
    const auto waits = [](const Host& one) { return one.ranks > 0 && !one.at_fence; };
    if (!t.met_ && std::none_of(t.hosts_.begin(), t.hosts_.end(), waits)) t.met_ = at;
  }
  void operator()(const RanksMet&) const {
    if (!t.met_) t.met_ = at;
  }
  void operator()(const AttemptFails&) const { t.over_ = true; }
  void operator()(const JobEnds&) const { t.over_ = true; }
  void operator()(const auto&) const {}
};

void StartTrace::on_event(const Event& event) {
  if (over_) return;
  if (const auto* job = std::get_if<JobBegins>(&event.what)) return begin(*job, event.at);
  if (!hosts_.empty()) std::visit(Listener{*this, event.at}, event.what);
}

void StartTrace::begin(const JobBegins& job, TimePoint at) {
  if (begin_ == TimePoint()) begin_ = at;
  job_id_ = job.plan->job.job_id;
  const plan::JobMap& map = job.plan->map;
  std::vector<Host> before = std::exchange(hosts_, {});
  places_ = map.places();
  host_of_rank_.assign(map.world_size(), 0);
  spoken_.assign(map.world_size(), 0);
  met_.reset();
  all_ready_.reset();
  for (std::size_t i = 0; i < map.hosts.size(); ++i) {
    Host& host = hosts_.emplace_back();
    host.name = map.hosts[i].host.name;
    host.ranks = map.hosts[i].ranks.size();
    for (const Rank rank : map.hosts[i].ranks) host_of_rank_[rank.value()] = i;
    if (i < before.size() && before[i].name == host.name) host.steps = std::move(before[i].steps);  // begun once more
  }
}

StartTrace::Host* StartTrace::host(HostId id) {
  if (id.value() >= places_.size()) return nullptr;
  Host& host = hosts_[places_[id.value()].value()];
  return host.ranks > 0 ? &host : nullptr;
}

void StartTrace::spoke(Rank rank, TimePoint at) {
  if (rank.value() >= spoken_.size() || std::exchange(spoken_[rank.value()], 1) != 0) return;
  Host& host = hosts_[host_of_rank_[rank.value()]];
  ++host.spoken;
  host.last_word = std::max(host.last_word, at);
}

// Nullopt: not all ranks have been seen to start.
std::optional<TimePoint> StartTrace::all_started() const {
  TimePoint out{};
  for (const Host& host : hosts_) {
    if (host.started < host.ranks) return std::nullopt;
    if (host.ranks > 0) out = std::max(out, host.last_start);
  }
  return out;
}

std::string StartTrace::json(TimePoint now) const {
  Spans spans(process_start_, now);
  spans.name_process(0, "sml-run");
  spans.add(0, "plan", "plan", process_start_, begin_ == TimePoint() ? now : begin_);
  if (workers_started_ && begin_ != TimePoint()) spans.add(0, "hosts", "hosts", begin_, workers_started_);
  const std::optional<TimePoint> all_run = all_started();
  if (met_ && all_run) spans.add(0, "join", "join", *all_run, met_);
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    const Host& host = hosts_[i];
    if (host.ranks == 0) continue;
    const std::size_t process = i + 1;
    spans.name_process(process, host.name);
    const std::optional<TimePoint> reached = host.ready ? host.ready : host.failed;
    for (std::size_t s = 0; s < host.steps.size(); ++s) {
      const auto next = s + 1 < host.steps.size() ? std::optional(host.steps[s + 1].at) : reached;
      spans.add(process, host.steps[s].text, category(host.steps[s].text), host.steps[s].at, next);
    }
    if (host.failed) spans.mark(process, host.fault, *host.failed);
    if (!host.ready) continue;
    if (!all_ready_ || *all_ready_ > *host.ready)
      spans.add(process, "waits for hosts", "wait", *host.ready, all_ready_);
    if (all_ready_) spans.add(process, "probe", "probe", *all_ready_, workers_started_);
    if (!workers_started_) continue;
    const bool its_run = host.started == host.ranks;
    spans.add(process, "start", "start", *workers_started_, its_run ? std::optional(host.last_start) : std::nullopt);
    if (!its_run) continue;
    const std::size_t output_row = host.at_fence ? 1 : 0;  // spans of a row may not overlap
    if (host.at_fence) {
      spans.name_thread(process, 0, "start");
      spans.name_thread(process, output_row, "output");
      spans.add(process, "join", "join", host.last_start, host.at_fence);
      if (!met_ || *met_ > *host.at_fence) spans.add(process, "waits for ranks", "wait", *host.at_fence, met_);
    }
    const bool all_spoke = host.spoken == host.ranks;
    spans.add(process, "first output", "output", host.last_start,
              all_spoke ? std::optional(host.last_word) : std::nullopt, output_row);
  }
  const TraceJson out{{"displayTimeUnit", "ms"}, {"otherData", {{"job_id", job_id_}}}, {"traceEvents", spans.take()}};
  return out.dump(-1, ' ', true, TraceJson::error_handler_t::replace) + "\n";
}

}  // namespace sml::report
