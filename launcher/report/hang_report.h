// Where the ranks of a job are, so that people see who holds up the others: one table, ranks that are at the same place
// on one line, and who is elsewhere. Pure.
#pragma once
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/process_trace.h"
#include "common/core/strong.h"
#include "common/plan/job_map.h"

namespace sml::report {

struct RankTrace {
  Rank rank;
  std::string host;
  Duration quiet{};  // since its last output, or its start
  ProcessTrace process;
};

// What torch's flight recorder has of a rank.
struct Recording {
  Rank rank;
  std::string bytes;
};

struct Traces {
  std::vector<RankTrace> ranks;     // those that run and have been told of, by rank
  std::vector<std::string> silent;  // hosts whose agents have not answered in time
};

// Lines for people, the title and the table, whom it points at, and the stacks of each place.
std::vector<std::string> hang_table(const std::string& title, const Traces& traces, const plan::JobMap& map);
// All that is known of one rank, as lines.
std::string rank_details(const RankTrace& trace);
// The same for programs, one object.
std::string hang_json(const std::string& job_id, const Traces& traces);

}  // namespace sml::report
