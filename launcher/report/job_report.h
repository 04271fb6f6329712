// The report of a failed job: for people, at most kMaxLines lines. Pure.
#pragma once
#include <string>
#include <vector>

#include "launcher/report/verdict.h"

namespace sml::report {

inline constexpr std::size_t kMaxLines = 30;

// verdict.lines first, then what is known of the worker that decided (pid, evidence of a lack of memory, a cause that
// its words are known for, its exception, its last lines), then what followed from it, folded, then what sml-run exits
// with and why. Nothing for a job that went well; just the verdict's lines when no worker decided. What workers wrote
// is escaped.
std::vector<std::string> job_report(const Facts& facts, const Verdict& verdict);

}  // namespace sml::report
