// What sml-run ps, status, stop, signal and logs print of running jobs. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/core/clock.h"
#include "common/core/stream.h"
#include "common/core/strong.h"
#include "launcher/report/job_progress.h"
#include "launcher/report/live_use.h"

namespace sml::report {

// A job in one line, as its launcher tells it. What counts ranks and hosts counts those of the plan.
struct JobSummary {
  std::string id{};
  std::string version{};  // of its sml-run
  std::string command{};  // cut
  std::string state{};    // "starting", "running", "stopping"
  std::string machine{};  // where its launcher runs
  std::int32_t pid = 0;   // of the launcher, in its own namespace
  std::uint64_t age_ms = 0;
  std::uint32_t hosts = 0;
  std::uint32_t ranks = 0;
  std::uint32_t running = 0;
  std::uint32_t failed = 0;  // or lost
  void fields(auto& a) { a(id, version, command, state, machine, pid, age_ms, hosts, ranks, running, failed); }
};

// Fills in what `progress` knows.
void add_progress(JobSummary& summary, const JobProgress& progress, TimePoint now);

struct ListedJob {
  JobSummary job;
  std::string user{};  // whose it is; empty: who asks
};
// A line for the titles and one for each job, with users where one is another's.
std::string jobs_table(std::span<const ListedJob> jobs);
std::string jobs_json(std::span<const ListedJob> jobs);  // a list, on one line

// One object on one line: what status_table() shows.
std::string status_to_json(const JobSummary& summary, const JobProgress& progress, TimePoint now, const LiveUses& uses);
// One line of a rank. Bytes that are no text are replaced.
std::string log_line_json(Rank rank, Stream stream, std::string_view line);
std::string signalled_json(std::string_view job, std::string_view signal, std::string_view ranks);
std::string ended_json(std::string_view job, int exit_code, std::string_view verdict);

}  // namespace sml::report
