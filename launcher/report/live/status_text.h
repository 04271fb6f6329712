// The progress of a job in words for the user. Pure.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/report/live/job_progress.h"
#include "launcher/report/live/live_use.h"

namespace sml::report {

// A rank that has been quiet for less than this is not reported as silent.
inline constexpr Duration kNotSilent = std::chrono::seconds(10);

// "sml-run: 12:34 | hosts 4/4 | ranks 14 running, 2 finished | rank 7 silent 2:10": one line of at most `columns`
// columns; empty if these are too few.
std::string status_line(const JobProgress& progress, TimePoint now, std::size_t columns);

// The same in full: a line for the job, one for each host and one for each rank, without "sml-run: ". Includes the
// ranks' resource usage if `uses` has some.
std::vector<std::string> status_table(const JobProgress& progress, TimePoint now, const LiveUses& uses = {});

// `text`, each line of it cut to `columns` columns; what is cut shows as "...".
std::string cut_lines(std::string_view text, std::size_t columns);

// "12 B", "1.5 GiB"
std::string bytes_text(std::uint64_t bytes);

// "0:07", "12:34", "1:02:03"
std::string clock_text(Duration elapsed);

}  // namespace sml::report
