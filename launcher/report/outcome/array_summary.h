// Summarizes how the runs of an array job ended: a table for the user, and the exit status. Pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "launcher/plan/array_file.h"

namespace sml::report {

struct ArrayEnd {
  std::optional<int> exit_code;  // nullopt: the run was not started
  Duration took{};
  TimePoint at;
};

struct ArrayFacts {
  std::vector<std::string> names;
  std::vector<plan::ArrayTask> tasks;
  std::vector<ArrayEnd> ends;      // one per task
  std::optional<int> stop_signal;  // the first stop signal of the user
};

struct ArrayVerdict {
  int exit_code = 0;               // of the run that failed first; 128+signal if the user stopped the job
  std::vector<std::string> lines;  // a row for every run, then one line with counts
};

ArrayVerdict judge_array(const ArrayFacts& facts);

}  // namespace sml::report
