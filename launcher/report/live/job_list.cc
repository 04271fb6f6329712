#include "launcher/report/live/job_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/core/text.h"
#include "launcher/report/live/status_text.h"
#include "launcher/report/status_json.h"

namespace sml::report {

namespace {

using HostState = JobProgress::HostState;
using RankState = JobProgress::RankState;
using Json = nlohmann::ordered_json;
using std::string_view;

constexpr std::size_t kLongestCommand = 60;

// ASCII on one line, whatever bytes it contains.
std::string text_of(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

string_view word(JobProgress::Phase phase) {
  constexpr string_view kWords[] = {"starting", "running", "stopping"};
  return kWords[static_cast<std::size_t>(phase)];
}

string_view word(HostState state) {
  constexpr string_view kWords[] = {"waiting", "connected", "ready", "failed", "ended"};
  return kWords[static_cast<std::size_t>(state)];
}

string_view word(RankState state) {
  constexpr string_view kWords[] = {"waiting", "running", "finished", "failed", "stopped", "lost"};
  return kWords[static_cast<std::size_t>(state)];
}

Json summary_json(const JobSummary& job) {
  return {{"id", job.id},           {"state", job.state},    {"age_s", static_cast<double>(job.age_ms) / 1000},
          {"hosts", job.hosts},     {"ranks", job.ranks},    {"running", job.running},
          {"failed", job.failed},   {"pid", job.pid},        {"machine", job.machine},
          {"command", job.command}, {"version", job.version}};
}

Json rank_json(const JobProgress& progress, std::size_t rank, TimePoint now) {
  const JobProgress::RankLine& line = progress.ranks()[rank];
  Json out{{"rank", rank},
           {"host", progress.hosts()[line.host].name},
           {"state", word(line.state)},
           {"pid", line.pid > 0 ? Json(line.pid) : Json()},
           {"output_bytes", line.bytes}};
  const bool runs = line.state == RankState::Running;
  out["silent_s"] = runs ? Json(in_seconds(now - line.last_output)) : Json();
  out["ran_s"] = line.start == TimePoint() ? Json() : Json(in_seconds((runs ? now : line.end) - line.start));
  if (!line.status.empty()) out["status"] = line.status;
  return out;
}

void add_use(Json& rank, const LiveUse& use) {
  rank["cpu_percent"] = use.cpu_percent ? Json(std::round(*use.cpu_percent * 10) / 10) : Json();
  rank["memory_bytes"] = use.memory;
  rank["processes"] = use.processes;
}

std::string ranks_of(const JobSummary& job) {
  std::string out = std::to_string(job.ranks);
  if (job.failed > 0) out += fmt::format(" ({} failed)", job.failed);
  return out;
}

}  // namespace

void add_progress(JobSummary& summary, const JobProgress& progress, TimePoint now) {
  const auto count = [](std::size_t number) { return static_cast<std::uint32_t>(number); };
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now - progress.begin()).count();
  summary.state = word(progress.phase());
  summary.age_ms = static_cast<std::uint64_t>(std::max<std::int64_t>(age, 0));
  summary.hosts = count(progress.hosts().size());
  summary.ranks = count(progress.ranks().size());
  summary.running = count(progress.count(RankState::Running));
  summary.failed = count(progress.count(RankState::Failed) + progress.count(RankState::Lost));
}

std::string jobs_table(std::span<const ListedJob> jobs) {
  std::size_t widest = 3;
  std::size_t widest_ranks = 6;
  std::size_t widest_user = 0;
  for (const auto& [job, user] : jobs) {
    widest = std::max(widest, show(job.id).size());
    widest_ranks = std::max(widest_ranks, ranks_of(job).size());
    if (!user.empty()) widest_user = std::max({widest_user, show(user).size(), std::size_t{4}});
  }
  const auto user_column = [&](string_view user) {
    return widest_user == 0 ? std::string() : fmt::format("{:<{}}  ", user, widest_user);
  };
  std::string out = fmt::format("{:<{}}  {}{:>7} {:>5} {:>{}}  {:<8} {:>7}  COMMAND\n", "JOB", widest,
                                user_column("USER"), "AGE", "HOSTS", "RANKS", widest_ranks, "STATE", "PID");
  for (const auto& [job, user] : jobs) {
    out += fmt::format("{:<{}}  {}{:>7} {:>5} {:>{}}  {:<8} {:>7}  {}\n", show(job.id), widest,
                       user_column(user.empty() ? "-" : show(user)),
                       clock_text(std::chrono::milliseconds(static_cast<std::int64_t>(job.age_ms))), job.hosts,
                       ranks_of(job), widest_ranks, show(job.state, 9), job.pid, show(job.command, kLongestCommand));
  }
  return out;
}

std::string jobs_json(std::span<const ListedJob> jobs) {
  Json out = Json::array();
  for (const auto& [job, user] : jobs) {
    out.push_back(summary_json(job));
    if (!user.empty()) out.back()["user"] = user;
  }
  return text_of(out);
}

std::string status_to_json(const JobSummary& summary, const JobProgress& progress, TimePoint now, const LiveUses& uses,
                           const Goodput* goodput) {
  Json out = summary_json(summary);
  out["attempt"] = progress.attempt();
  if (goodput != nullptr) out["goodput"] = goodput_json(goodput->sums(now));
  if (goodput != nullptr && goodput->step()) out["step"] = *goodput->step();
  out["on_hosts"] = Json::array();
  for (const JobProgress::Host& host : progress.hosts()) {
    Json one{{"host", host.name}, {"state", word(host.state)}, {"ranks", host.ranks.text()}};
    if (!host.text.empty()) one["detail"] = host.text;
    one["usage"] = peaks_json(host.peaks);
    one["memory_used_bytes"] = host.peaks.samples > 0 ? Json(host.peaks.last.memory_used) : Json();
    for (const StatusPart& part : status_parts(uses, host.name)) {
      for (const auto& [key, value] : part.numbers) one[key] = part.known ? Json(value) : Json();
    }
    one["accelerators"] = Json::array();
    for (const AcceleratorUse& use : host.peaks.last.accelerators) {
      one["accelerators"].push_back({{"name", use.name}, {"busy_percent", use.busy_percent}});
    }
    out["on_hosts"].push_back(std::move(one));
  }
  out["of_ranks"] = Json::array();
  for (std::size_t rank = 0; rank < progress.ranks().size(); ++rank) {
    out["of_ranks"].push_back(rank_json(progress, rank, now));
    const auto use = uses.ranks.find(Rank(static_cast<std::uint32_t>(rank)));
    if (use != uses.ranks.end()) add_use(out["of_ranks"].back(), use->second);
  }
  return text_of(out);
}

std::string log_line_json(Rank rank, Stream stream, string_view line) {
  return text_of({{"rank", rank.value()}, {"stream", stream == Stream::Stdout ? "stdout" : "stderr"}, {"line", line}});
}

std::string signalled_json(string_view job, string_view signal, string_view ranks) {
  return text_of({{"id", job}, {"signal", signal}, {"ranks", ranks}});
}

std::string ended_json(string_view job, int exit_code, string_view verdict) {
  return text_of({{"id", job}, {"exit_code", exit_code}, {"verdict", verdict}});
}

}  // namespace sml::report
