#include "launcher/report/events/event_lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <string_view>

#include <nlohmann/json.hpp>

#include "launcher/report/status_json.h"

namespace sml::report {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

std::string_view word(StopCause cause) {
  static constexpr std::array<std::string_view, 7> kWords = {"worker_failed", "host_failed", "signal",     "time_limit",
                                                             "output_gone",   "launcher",    "no_progress"};
  return kWords[static_cast<std::size_t>(cause)];
}

std::string_view word(SignalUse use) {
  static constexpr std::array<std::string_view, 4> kWords = {"stops_job", "passed_on", "suspends_job", "prints_status"};
  return kWords[static_cast<std::size_t>(use)];
}

// Clocks of different hosts can be compared to microseconds at best.
double rounded(double seconds) { return std::round(seconds * 1e6) / 1e6; }

Json hosts_json(const plan::JobMap& map) {
  Json out = Json::array();
  for (std::size_t i = 0; i < map.hosts.size(); ++i) {
    const plan::MappedHost& host = map.hosts[i];
    if (host.ranks.empty()) continue;
    out.push_back({{"host", host.host.name},
                   {"index", i},
                   {"first_rank", host.ranks.front().value()},
                   {"ranks", host.ranks.size()}});
    if (host.ranks.back().value() - host.ranks.front().value() < host.ranks.size()) continue;
    for (const Rank rank : host.ranks) out.back()["rank_list"].push_back(rank.value());
  }
  return out;
}

// Adds the name and the fields of each kind of event.
class Details {
 public:
  Details(Json& out, const plan::LaunchPlan& plan, const std::vector<HostIndex>& places)
      : out_(out), plan_(plan), places_(places) {}

  void operator()(const JobBegins& e) {
    kind("job_start");
    out_["schema"] = kSchema;
    out_["job_id"] = e.plan->job.job_id;
    out_["program"] = e.plan->command.empty() ? "" : e.plan->command.front();
    out_["world_size"] = e.plan->map.world_size();
    out_["hosts"] = hosts_json(e.plan->map);
  }
  void operator()(const HostStep& e) {
    about("host_step", e.host);
    out_["step"] = e.step;
  }
  void operator()(const HostConnected& e) {
    about("host_connected", e.host);
    out_["local"] = e.place == HostPlace::ThisMachine;
    out_["address"] = e.address.empty() ? Json() : Json(e.address);
    out_["agent_pid"] = e.agent_pid;
  }
  void operator()(const HostReady& e) { about("host_ready", e.host); }
  void operator()(const HostFailed& e) {
    about("host_failed", e.host);
    out_["kind"] = std::string(name(e.why.kind()));
    out_["message"] = e.why.text();
  }
  void operator()(const HostExcluded& e) {
    about("host_excluded", e.host);
    out_["failures"] = e.failures;
  }
  void operator()(const HostListChanged& e) {
    kind("host_list_changed");
    out_["new"] = e.come;
    out_["again"] = e.back;
    out_["withdrawn"] = e.withdrawn;
  }
  void operator()(const HostEnded& e) { about("host_ended", e.host); }
  void operator()(const WorkersStart& e) {
    kind("workers_start");
    out_["master_addr"] = e.master_address;
    out_["master_port"] = e.master_port;
  }
  void operator()(const RankStarted& e) {
    about("rank_start", e.rank);
    out_["pid"] = e.pid;
  }
  void operator()(const RanksAdded& e) {
    if (e.asked_by) about("ranks_spawned", *e.asked_by);
    if (!e.asked_by) kind("ranks_joined");
    out_["first_rank"] = e.first.value();
    out_["world_size"] = e.plan->map.world_size() - e.first.value();
    out_["hosts"] = hosts_json(e.plan->map);
  }
  void operator()(const HostInUse&) {}
  void operator()(const HostAtFence&) {}
  void operator()(const RanksMet&) {}
  void operator()(const RankOutput&) {}  // only counted
  void operator()(const RankExited& e) {
    about("rank_exit", e.rank);
    out_["status"] = status_json(e.status);
    out_["stopped_by"] = e.ending == Ending::Stopped ? Json("sml-run") : Json();
    out_["usage"] = usage_json(e.usage);
  }
  void operator()(const RankDrained& e) { about("rank_output_end", e.rank); }
  void operator()(const SignalCame& e) {
    kind("signal");
    out_["signal"] = signal_name(e.signo);
    out_["use"] = word(e.use);
  }
  void operator()(const JobStopping& e) {
    kind("stop");
    out_["cause"] = word(e.cause);
  }
  void operator()(const AttemptFails& e) {
    kind("attempt_failed");
    out_["attempt"] = e.attempt;
    judged(e);
    out_["restarts_in"] = rounded(in_seconds(e.restarts_in));
  }
  void operator()(const AttemptBegins& e) {
    kind("restart");
    out_["attempt"] = e.attempt;
    out_["world_size"] = e.plan->map.world_size();
    out_["hosts"] = hosts_json(e.plan->map);
  }
  void operator()(const JobEnds& e) {
    kind("verdict");
    judged(e);
    out_["attempts"] = e.attempts;
    out_["no_restart"] = e.no_restart.empty() ? Json() : Json(e.no_restart);
  }

 private:
  template <class End>
  void judged(const End& e) {
    out_["exit_code"] = e.exit_code;
    out_["verdict"] = e.verdict;
    out_["culprit"] = e.root_cause ? Json(e.root_cause->value()) : Json();
  }
  void kind(std::string_view kind) { out_["event"] = kind; }
  void about(std::string_view what, HostId host) {
    kind(what);
    out_["host"] = plan_.map.hosts[places_[host.value()].value()].host.name;
  }
  void about(std::string_view what, Rank rank) {
    kind(what);
    out_["rank"] = rank.value();
    out_["host"] = plan_.map.hosts[plan_.map.ranks[rank.value()].host.value()].host.name;
  }

  Json& out_;
  const plan::LaunchPlan& plan_;
  const std::vector<HostIndex>& places_;
};

}  // namespace

std::string iso_time(double unix_time) {
  constexpr double kLast = 253402300799.0;  // the end of the year 9999
  const double bounded = std::clamp(unix_time, 0.0, kLast);
  const auto micros = static_cast<std::int64_t>(std::llround(bounded * 1e6));
  const std::time_t seconds = micros / 1'000'000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text.data() + length, text.size() - length, ".%06dZ", static_cast<int>(micros % 1'000'000));
  return text.data();
}

void EventLines::on_event(const Event& event) {
  if (const auto* begins = std::get_if<JobBegins>(&event.what)) {
    plan_ = begins->plan;
    begin_ = event.at;
    unix_time_ = begins->unix_time;
    volumes_.assign(plan_->map.world_size(), {});
    places_.clear();
  }
  if (const auto* again = std::get_if<AttemptBegins>(&event.what)) {
    plan_ = again->plan;
    volumes_.assign(plan_->map.world_size(), {});
    places_.clear();
  }
  if (plan_ == nullptr) return;
  if (std::holds_alternative<RanksAdded>(event.what)) {
    volumes_.resize(plan_->map.world_size());
    places_.clear();
  }
  if (places_.size() != plan_->map.hosts.size()) places_ = plan_->map.places();  // hosts may come without an event
  if (const auto* output = std::get_if<RankOutput>(&event.what)) {
    Volume& volume = volumes_[output->rank.value()];
    (output->stream == Stream::Stdout ? volume.out : volume.err) += output->bytes;
    return;
  }
  if (std::holds_alternative<HostInUse>(event.what)) return;  // that is part of the report
  const bool met = std::holds_alternative<HostAtFence>(event.what) || std::holds_alternative<RanksMet>(event.what);
  if (met) return;  // that is part of --trace
  const double t = in_seconds(event.at - begin_);
  Json out;
  out["event"] = "";
  out["t"] = rounded(t);
  out["time"] = iso_time(unix_time_ + t);
  std::visit(Details(out, *plan_, places_), event.what);
  if (const auto* drained = std::get_if<RankDrained>(&event.what)) {
    out["stdout_bytes"] = volumes_[drained->rank.value()].out;
    out["stderr_bytes"] = volumes_[drained->rank.value()].err;
  }
  // Names and messages can contain any bytes; JSON must be UTF-8.
  std::string line = out.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
  write_(line);
}

}  // namespace sml::report
