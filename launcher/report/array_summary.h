// How the runs of an array job ended: a table for people, and the exit status. Pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/plan/array_file.h"

namespace sml::report {

struct ArrayEnd {
  std::optional<int> exit_code;  // empty: was not started
  Duration took{};
  TimePoint at;
};

struct ArrayFacts {
  std::vector<std::string> names;
  std::vector<plan::ArrayTask> tasks;
  std::vector<ArrayEnd> ends;      // as many as tasks
  std::optional<int> stop_signal;  // the user's first
};

struct ArrayVerdict {
  int exit_code = 0;               // of the run that failed first; 128+signal when the user stopped it before
  std::vector<std::string> lines;  // a row for every run, then one line that counts them
};

ArrayVerdict judge_array(const ArrayFacts& facts);

}  // namespace sml::report
