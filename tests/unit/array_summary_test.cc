#include "launcher/report/outcome/array_summary.h"

#include <csignal>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::report;

namespace {
TimePoint at(int ms) { return TimePoint(std::chrono::milliseconds(ms)); }
ArrayFacts three_runs() {
  return {.names = {"REGION", "CITY"},
          .tasks = {{0, 1, {"us-east-1", "Ashburn"}}, {1, 2, {"eu-west-1", "\x1b[2J"}}, {2, 3, {"x", ""}}},
          .ends = {{0, std::chrono::milliseconds(1500), at(5)}, {3, {}, at(9)}, {7, {}, at(8)}},
          .stop_signal = {}};
}
}  // namespace

TEST_CASE("an array ends with the status of the run that failed first, and a table of all") {
  const ArrayVerdict verdict = judge_array(three_runs());
  CHECK(verdict.exit_code == 7);
  CHECK(verdict.lines == std::vector<std::string>{
                             "index  line  status   time  REGION     CITY",
                             "    0     1       0  1.5 s  us-east-1  Ashburn",
                             "    1     2       3  0.0 s  eu-west-1  \\x1b[2J",
                             "    2     3       7  0.0 s  x",
                             "1 of 3 runs succeeded, 2 failed",
                         });
}

TEST_CASE("an array that the user stopped ends with the signal, and says what was not started") {
  ArrayFacts facts = three_runs();
  facts.stop_signal = SIGTERM;
  facts.ends[1].exit_code = 143;
  facts.ends[2].exit_code.reset();
  const ArrayVerdict verdict = judge_array(facts);
  CHECK(verdict.exit_code == 143);
  CHECK(verdict.lines[3] == "    2     3  not run         x");
  CHECK(verdict.lines[4] == "1 of 3 runs succeeded, 1 failed, 1 not started");
  CHECK(verdict.lines[5] == "stopped by SIGTERM");
}

TEST_CASE("an array without a failure ends with 0") {
  ArrayFacts facts = three_runs();
  facts.ends[1].exit_code = facts.ends[2].exit_code = 0;
  CHECK(judge_array(facts).exit_code == 0);
  CHECK(judge_array(facts).lines.back() == "3 of 3 runs succeeded, 0 failed");
}
