// The report of a failed job for the user, at most kMaxLines lines. Pure.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "launcher/report/outcome/job_outcome.h"
#include "launcher/report/outcome/report_json.h"

namespace sml::report {

inline constexpr std::size_t kMaxLines = 30;

// The lines: the first line of the outcome; details of the worker that is the root cause (pid, evidence of a lack of
// memory, a known cause, its exception, its last lines); the failures that followed, alike ones in one line; the other
// lines of the outcome; then the exit status of sml-run and its reason. Empty if the job succeeded; only the outcome's
// lines if no worker is the root cause. There are kMaxLines at most, the last of which then has the number of those
// left out. Text of workers is escaped.
std::vector<std::string> job_report(const AttemptFacts& facts, const JobOutcome& verdict);

// The same for an attempt that another follows: without the exit status.
std::vector<std::string> attempt_report(const AttemptFacts& facts, const JobOutcome& verdict);

// Lines with the outcome of each of the `earlier` attempts, those that were to be followed by another; none if there
// are none. `exit_code` is the job's. `last` is the number of the last attempt that began; it is that of the last
// earlier one if the job ended before the next began.
std::vector<std::string> attempts_report(std::span<const AttemptRecord> earlier, std::uint32_t last, int exit_code);

}  // namespace sml::report
