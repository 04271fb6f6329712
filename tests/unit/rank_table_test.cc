#include "launcher/attempt/rank_table.h"

#include <csignal>

#include "tests/support/catch.h"

using namespace sml;
using namespace std::chrono_literals;
using attempt::RankTable;
using report::Ending;
using Weight = RankTable::Weight;

namespace {

const TimePoint kNow = TimePoint(1000h);

// Two hosts with two ranks each; the last rank serves the others.
plan::LaunchPlan make_plan() {
  plan::HostList list;
  list.hosts = {{.name = "a", .user = {}, .slots = 2}, {.name = "b", .user = {}, .slots = 2}};
  plan::LaunchPlan plan;
  plan.map = *plan::map_job(list, std::nullopt, plan::Oversubscribe::No);
  plan.map.ranks[3].part = plan::Part::Helper;
  plan.command = {"train"};
  return plan;
}

}  // namespace

TEST_CASE("of a rank that failed the table tells all that is known") {
  RankTable table(make_plan());
  table.started(Rank(2), 4711);
  table.wrote_errors(Rank(2), "first\nOh\n");
  table.explained(Rank(2), {"ValueError: no", ""});
  CHECK(table.ended(Rank(2), Exited{3}, Ending::ByItself, kNow) == Weight::Failure);
  table.ran_out_of_memory(Rank(2), "oom_kill 1");
  table.wrote_errors(Rank(2), "last\n");  // what was under way when it ended
  const auto failures = table.failures();
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].rank == Rank(2));
  CHECK(failures[0].host == "b");
  CHECK(failures[0].pid == 4711);
  CHECK(failures[0].status == ExitStatus(Exited{3}));
  CHECK(failures[0].by_itself);
  CHECK(failures[0].at == kNow);
  CHECK(failures[0].error.message == "ValueError: no");
  CHECK(failures[0].out_of_memory == "oom_kill 1");
  CHECK(failures[0].last_lines == std::vector<std::string>{"first", "Oh", "last"});
}

TEST_CASE("a killed rank of which whole buffers have come, or nothing, may have kept its last lines") {
  struct Row {
    std::string program;
    std::size_t printed;
    ExitStatus status;
    bool keeps;
  };
  const Row rows[] = {{"./ring", 0, Signaled{SIGSEGV}, true},     {"./ring", 8192, Signaled{SIGKILL}, true},
                      {"./ring", 8193, Signaled{SIGSEGV}, false}, {"./ring", 0, Exited{1}, false},
                      {"python3", 0, Signaled{SIGSEGV}, false},   {"/bin/bash", 0, Signaled{SIGSEGV}, false}};
  for (const Row& row : rows) {
    CAPTURE(row.program, row.printed);
    plan::LaunchPlan plan = make_plan();
    plan.command = {row.program};
    RankTable table(plan);
    table.printed(Rank(2), row.printed);
    CHECK(table.ended(Rank(2), row.status, Ending::ByItself, kNow) == Weight::Failure);
    CHECK(table.failures().at(0).keeps_lines == row.keeps);
  }
}

TEST_CASE("failures come in the order in which they came to be known") {
  RankTable table(make_plan());
  CHECK(table.ended(Rank(1), Signaled{SIGKILL}, Ending::Stopped, kNow) == Weight::Failure);
  CHECK(table.ended(Rank(0), Exited{1}, Ending::ByItself, kNow - 1s) == Weight::Failure);
  const auto failures = table.failures();
  REQUIRE(failures.size() == 2);
  CHECK(failures[0].rank == Rank(1));
  CHECK_FALSE(failures[0].by_itself);
  CHECK(failures[1].rank == Rank(0));
}

TEST_CASE("whoever only serves others is not needed once they have ended") {
  RankTable table(make_plan());
  CHECK(table.workers_left() == 3);
  for (const std::uint32_t rank : {0U, 1U, 2U}) {
    CHECK(table.ended(Rank(rank), Exited{0}, Ending::ByItself, kNow) == Weight::Nothing);
  }
  CHECK(table.workers_left() == 0);
  CHECK(table.unseen() == 1);
  SECTION("its end is no failure then") {
    CHECK(table.ended(Rank(3), Signaled{SIGTERM}, Ending::Stopped, kNow) == Weight::Nothing);
    CHECK(table.failures().empty());
    CHECK(table.unseen() == 0);
    CHECK(table.ends()[3].status == ExitStatus(Signaled{SIGTERM}));
  }
}

TEST_CASE("whoever only serves others is needed while one of them runs") {
  RankTable table(make_plan());
  CHECK(table.ended(Rank(3), Exited{1}, Ending::ByItself, kNow) == Weight::Failure);
  CHECK(table.workers_left() == 3);
}

TEST_CASE("every rank has a record, whether it was started or not") {
  RankTable table(make_plan());
  table.started(Rank(1), 7);
  CHECK(table.ended(Rank(1), Exited{0}, Ending::ByItself, kNow) == Weight::Nothing);
  const auto ends = table.ends();
  REQUIRE(ends.size() == 4);
  CHECK(ends[0].host == "a");
  CHECK(ends[0].at == TimePoint());
  CHECK(ends[0].pid == -1);
  CHECK(ends[1].pid == 7);
  CHECK(ends[1].at == kNow);
  CHECK(ends[3].host == "b");
  CHECK(ends[0].program.empty());  // the job has one
}

TEST_CASE("a rank that a service condemned has failed, whatever its process says then") {
  RankTable table(make_plan());
  table.condemned(Rank(1), 7, "called MPI_Abort", kNow);
  table.condemned(Rank(1), 8, "again", kNow + 1s);
  SECTION("before it has ended") {}
  SECTION("it ends well") {
    CHECK(table.ended(Rank(1), Exited{0}, Ending::Stopped, kNow + 2s) == Weight::Failure);
    CHECK(table.ends()[1].status == ExitStatus(Exited{7}));
    CHECK(table.ends()[1].by_itself);
  }
  const auto failures = table.failures();
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].status == ExitStatus(Exited{7}));
  CHECK(failures[0].fault == "called MPI_Abort");
  CHECK(failures[0].by_itself);
  CHECK(failures[0].at == kNow);
}

TEST_CASE("what is said of a rank after its end does not count") {
  RankTable table(make_plan());
  CHECK(table.ended(Rank(1), Exited{0}, Ending::ByItself, kNow) == Weight::Nothing);
  table.condemned(Rank(1), 7, "late", kNow);
  CHECK(table.failures().empty());
}

TEST_CASE("the attempt is not judged by a rank that the others do without, ended before or after or never") {
  RankTable table(make_plan());
  CHECK(table.ended(Rank(0), Exited{3}, Ending::ByItself, kNow) == Weight::Failure);
  table.do_without(Rank(0));
  table.do_without(Rank(1));
  static_cast<void>(table.ended(Rank(1), Signaled{SIGTERM}, Ending::Stopped, kNow));
  table.do_without(Rank(2));
  static_cast<void>(table.ended(Rank(3), Exited{0}, Ending::ByItself, kNow));
  CHECK(table.failures().empty());
  CHECK(table.unseen() == 0);
  CHECK(table.ends()[0].status == ExitStatus(Exited{3}));
}
