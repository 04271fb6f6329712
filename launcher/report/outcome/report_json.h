// --report: the end of the job as JSON for programs. Pure. The schema is in sml-run-json(5), REPORT.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "launcher/report/live/goodput.h"
#include "launcher/report/live/host_peaks.h"
#include "launcher/report/outcome/job_outcome.h"

namespace sml::report {

// One attempt of the job.
struct AttemptRecord {
  std::uint32_t number = 1;
  double started_unix = 0;  // start of the workers; wall clock, seconds
  Duration lasted{};
  int exit_code = 0;
  std::string words;                                 // its outcome
  std::optional<AttemptFacts::WorkerEnd> failure{};  // the root cause; nullopt: that is no worker
  std::uint32_t world_size = 0;
  std::vector<std::string> hosts{};  // those with ranks, in host order
};

struct HostRecord {
  std::string name;
  HostPeaks peaks;
};

struct JobRecord {
  std::string job_id;
  double started_unix = 0;                     // wall clock, seconds
  TimePoint now;                               // end of the job
  std::vector<AttemptFacts::WorkerEnd> ranks;  // all ranks, whether they failed or not
  std::vector<AttemptRecord> attempts{};       // the last one is the attempt of `ranks`
  std::vector<HostRecord> hosts{};             // those with ranks
  std::optional<GoodputSums> goodput{};        // nullopt: progress is not known
  std::string no_restart{};                    // why no other attempt followed; empty if that is evident
};

// One line with a newline.
std::string report_json(const JobRecord& job, const AttemptFacts& facts, const JobOutcome& verdict);

}  // namespace sml::report
