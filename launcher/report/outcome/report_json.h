// --report: the end of the job as JSON for programs. Pure. The schema is in sml-run-json(5), REPORT.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "common/core/usage.h"
#include "launcher/report/live/goodput.h"
#include "launcher/report/live/host_peaks.h"
#include "launcher/report/outcome/job_outcome.h"

namespace sml::report {

// One rank, whether it failed or not. Times are on the launcher's clock.
struct RankRecord {
  std::string host;
  std::int32_t pid = -1;  // -1: was not started
  std::optional<TimePoint> ended;
  std::optional<ExitStatus> status;  // nullopt: its end was not observed
  bool by_itself = true;
  std::string program{};  // argv[0]; this and `role` are empty if the job has one program
  std::string role{};
  std::optional<Usage> usage{};  // nullopt: its end was not observed
};

// One attempt of the job.
struct AttemptRecord {
  std::uint32_t number = 1;
  double started_unix = 0;  // start of the workers; wall clock, seconds
  Duration lasted{};
  int exit_code = 0;
  std::string words;               // its outcome
  std::optional<Rank> root_cause;  // nullopt: the root cause is no worker; then the next two are empty, too
  std::string root_cause_host;
  std::optional<AttemptFacts::WorkerEnd> failure{};  // the end of that rank
  std::uint32_t world_size = 0;
  std::vector<std::string> hosts{};  // those with ranks, in host order
};

struct HostRecord {
  std::string name;
  HostPeaks peaks;
};

struct JobRecord {
  std::string job_id;
  double started_unix = 0;  // wall clock, seconds
  TimePoint now;            // end of the job
  std::vector<RankRecord> ranks;
  std::vector<AttemptRecord> attempts{};  // the last one is the attempt of `ranks`
  std::vector<HostRecord> hosts{};        // those with ranks
  std::optional<GoodputSums> goodput{};   // nullopt: progress is not known
  std::string no_restart{};               // why no other attempt followed; empty if that is evident
};

// One line with a newline.
std::string report_json(const JobRecord& job, const AttemptFacts& facts, const JobOutcome& verdict);

}  // namespace sml::report
