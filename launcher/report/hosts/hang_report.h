// Reports where the ranks of a job are, so that the user sees which ones hold up the others: a table with ranks at the
// same place on one line, and the ranks that differ from most. Pure.
#pragma once
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/process_trace.h"
#include "common/core/strong.h"
#include "common/plan/ranks/job_map.h"

namespace sml::report {

struct RankTrace {
  Rank rank;
  std::string host;
  Duration quiet{};  // time since its last output; since its start, if it has printed nothing
  ProcessTrace process;
};

// The recording of torch's flight recorder in a rank, as torch dumps it.
struct Recording {
  Rank rank;
  std::string bytes;
};

struct Traces {
  std::vector<RankTrace> ranks;     // the running ranks for which an agent has replied, by rank
  std::vector<std::string> silent;  // hosts whose agents have not replied in time
};

// Lines for the user: the title and the table, the ranks that differ, and the stacks of each place.
std::vector<std::string> hang_table(const std::string& title, const Traces& traces, const plan::JobMap& map);
// All details of one rank, as lines.
std::string rank_details(const RankTrace& trace);
// All details of all ranks for programs, as one JSON object.
std::string hang_json(const std::string& job_id, const Traces& traces);

}  // namespace sml::report
