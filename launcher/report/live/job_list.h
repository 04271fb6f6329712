// The output of sml-run ps, status, stop, signal and logs about running jobs. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/core/clock.h"
#include "common/core/stream.h"
#include "common/core/strong.h"
#include "launcher/report/live/goodput.h"
#include "launcher/report/live/job_progress.h"
#include "launcher/report/live/live_use.h"

namespace sml::report {

// A job in one line, as its launcher reports it. Counts of ranks and hosts are those of the plan.
struct JobSummary {
  std::string id{};
  std::string version{};     // of the job's sml-run
  std::string command{};     // shortened
  std::string state{};       // "starting", "running", "stopping"
  std::string machine{};     // on which its launcher runs
  std::int32_t pid = 0;      // of the launcher, in its own PID namespace
  std::uint64_t age_ms = 0;  // since its start
  std::uint32_t hosts = 0;
  std::uint32_t ranks = 0;
  std::uint32_t running = 0;
  std::uint32_t failed = 0;  // failed or lost
  void fields(auto& a) { a(id, version, command, state, machine, pid, age_ms, hosts, ranks, running, failed); }
};

// Fills in the fields that `progress` provides.
void add_progress(JobSummary& summary, const JobProgress& progress, TimePoint now);

struct ListedJob {
  JobSummary job;
  std::string user{};  // owner of the job; empty: the user who asks
};
// A title line and one line for each job, with a user column if a job belongs to another user.
std::string jobs_table(std::span<const ListedJob> jobs);
std::string jobs_json(std::span<const ListedJob> jobs);  // a list, on one line

// One object on one line, with the contents of status_table(), and the goodput; that is null in the JSON if `goodput`
// is null, as progress is not known.
std::string status_to_json(const JobSummary& summary, const JobProgress& progress, TimePoint now, const LiveUses& uses,
                           const Goodput* goodput);
// One output line of a rank. Bytes that are not UTF-8 are replaced.
std::string log_line_json(Rank rank, Stream stream, std::string_view line);
std::string signalled_json(std::string_view job, std::string_view signal, std::string_view ranks);
std::string ended_json(std::string_view job, int exit_code, std::string_view verdict);

}  // namespace sml::report
