// The report of a failed job: for people, at most kMaxLines lines. Pure.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "launcher/report/report_json.h"
#include "launcher/report/verdict.h"

namespace sml::report {

inline constexpr std::size_t kMaxLines = 30;

// verdict.lines first, then what is known of the worker that decided (pid, evidence of a lack of memory, a cause that
// its words are known for, its exception, its last lines), then what followed from it, folded, then what sml-run exits
// with and why. Nothing for a job that went well; just the verdict's lines when no worker decided. What workers wrote
// is escaped.
std::vector<std::string> job_report(const Facts& facts, const Verdict& verdict);

// The same of an attempt that another follows: without the exit status.
std::vector<std::string> attempt_report(const Facts& facts, const Verdict& verdict);

// What became of the attempts that were to be followed by another; nothing where there were none. `exit_code`: the
// job's. `last`: the number of the last that was made; that of the last earlier one when the job ended before the next.
std::vector<std::string> attempts_report(std::span<const AttemptRecord> earlier, std::uint32_t last, int exit_code);

}  // namespace sml::report
