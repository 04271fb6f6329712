#include "launcher/report/hosts/hang_report.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include <sys/syscall.h>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::report;
using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

namespace {

plan::JobMap map_of_two() {
  plan::HostList hosts;
  for (const char* name : {"algo-1", "algo-2"}) hosts.hosts.push_back({name, "", 2});
  return *plan::map_job(hosts, std::nullopt, plan::Oversubscribe::No);
}

RankTrace trace(std::uint32_t rank, Duration quiet, const std::string& stacks) {
  RankTrace out{Rank(rank), rank < 2 ? "algo-1" : "algo-2", quiet, {}};
  out.process.pid = static_cast<std::int32_t>(100 + rank);
  out.process.threads = {{.tid = out.process.pid, .name = "python3", .state = 'S'}};
  out.process.threads[0].system_call = std::to_string(SYS_futex) + " 0x1";
  out.process.tool = stacks.empty() ? "" : "py-spy";
  out.process.stacks = stacks;
  return out;
}

const std::string kWaits = "Thread 1 (idle): \"MainThread\"\n    barrier (c10d.py:9)\n    main (train.py:3)\n";
const std::string kLoads = "Thread 1 (idle): \"MainThread\"\n    load (train.py:7)\n";

}  // namespace

TEST_CASE("hang report: equal stacks are one line, and the odd one is named") {
  const Traces traces{{trace(0, 5s, kWaits), trace(1, 6s, kWaits), trace(2, 70s, kLoads), trace(3, 5s, kWaits)}, {}};
  CHECK(hang_table("where the ranks are (why)", traces, map_of_two()) ==
        Lines{"where the ranks are (why):", "  RANKS  HOSTS       STATE         QUIET  WHERE",
              "  0-1,3  algo-[1-2]  sleeping  0:05-0:06  barrier (c10d.py:9), in futex",
              "  2      algo-2      sleeping       1:10  load (train.py:7), in futex",
              "rank 2 on algo-2 differs from most: load (train.py:7), in futex",
              "ranks 0-1,3:", "    barrier (c10d.py:9)", "    main (train.py:3)"});
}

TEST_CASE("hang report: a row whose stack is below fits 80 columns behind the name of the program") {
  const std::string frame = "all_reduce (" + std::string(60, 'd') + "/distributed_c10d.py:2806)";
  const std::string stack = "Thread 1 (idle): \"MainThread\"\n    " + frame + "\n    main (train.py:3)\n";
  const Lines lines = hang_table("t", {{trace(0, 5s, stack), trace(1, 5s, stack), trace(2, 5s, "")}, {}}, map_of_two());
  CHECK(lines[2].size() + std::string("sml-run: ").size() == 80);
  CHECK(lines[2].starts_with("  0-1    algo-1  sleeping   0:05  all_reduce ("));
  CHECK(lines[3] == "  2      algo-2  sleeping   0:05  futex");
  CHECK(std::find(lines.begin(), lines.end(), "    " + frame) != lines.end());
}

TEST_CASE("hang report: who has a stack where most have none is not the odd one, but who has none is") {
  const auto says_odd = [](const Traces& traces) {
    const Lines lines = hang_table("where the ranks are", traces, map_of_two());
    return std::any_of(lines.begin(), lines.end(),
                       [](const std::string& line) { return line.find("differs from most") != std::string::npos; });
  };
  CHECK_FALSE(says_odd({{trace(0, 5s, kWaits), trace(1, 5s, ""), trace(2, 5s, ""), trace(3, 5s, "")}, {}}));
  CHECK(says_odd({{trace(0, 5s, ""), trace(1, 5s, kWaits), trace(2, 5s, kWaits), trace(3, 5s, kWaits)}, {}}));
}

TEST_CASE("hang report: without a tool the kernel's word counts, and that is said") {
  Traces traces{{trace(0, 0s, ""), trace(1, 0s, "")}, {"algo-2"}};
  for (std::uint32_t i = 0; i < 2; ++i) {
    traces.ranks[i].process.threads[0].system_call = std::to_string(SYS_recvfrom) + " 0x3";
    traces.ranks[i].process.threads[0].held = "socket to 10.0.0.1:" + std::to_string(5000 + i);
  }
  CHECK(hang_table("t", traces, map_of_two()) ==
        Lines{"t:", "  RANKS  HOSTS   STATE     QUIET  WHERE", "  0-1    algo-1  sleeping   0:00  recvfrom (socket)",
              "this is from the kernel alone; with py-spy or gdb on the hosts there are stacks, too",
              "no answer in time from algo-2"});
}

TEST_CASE("hang report: frames of the interpreter are not those of a program, and py-spy would help") {
  Traces traces{{trace(0, 0s, "#0  0x1 in clock_nanosleep ()\n#1  0x2 in _PyEval_EvalFrameDefault ()\n")}, {}};
  traces.ranks[0].process.tool = "gdb";
  CHECK(hang_table("t", traces, map_of_two()).back() ==
        "these are frames of the Python interpreter; with py-spy on the hosts there are those of your program");
  traces.ranks[0].process.tool = "py-spy";
  CHECK(hang_table("t", traces, map_of_two()).back().find("interpreter") == std::string::npos);
}

TEST_CASE("hang report: why there is no stack is told once for all whom it concerns") {
  Traces traces{{trace(0, 0s, ""), trace(1, 0s, "")}, {}};
  for (RankTrace& one : traces.ranks) {
    one.process.tool = "py-spy";
    one.process.fault = "py-spy failed: \x1b[1mPermission denied";
  }
  CHECK(hang_table("t", traces, map_of_two()).back() ==
        "no stack of ranks 0-1: py-spy failed: \\x1b[1mPermission denied");
  CHECK(hang_table("t", {}, map_of_two()) == Lines{"t:", "  no rank runs"});
}

TEST_CASE("hang report: of half against half nobody is the odd one") {
  const Traces traces{{trace(0, 5s, kWaits), trace(1, 6s, kLoads)}, {}};
  for (const std::string& line : hang_table("t", traces, map_of_two())) CHECK(line.find("differ") == std::string::npos);
}

TEST_CASE("hang report: details and JSON are text whatever a host sends") {
  RankTrace one = trace(3, 1500ms, "Thread 1 (idle): \"MainThread\"\n    f\x1b (a.py:1)\n");
  one.process.command = "python3 \xff";
  one.process.sockets = {"10.0.0.1:29500"};
  one.process.socket_count = 70;
  const std::string details = rank_details(one);
  CHECK(details.find("rank 3 on algo-2\npid 103: python3 \\xff\n") == 0);
  CHECK(details.find("70 connections by TCP\n  to 10.0.0.1:29500\n") != std::string::npos);
  CHECK(details.find("    f\\x1b (a.py:1)\n") != std::string::npos);
  const auto json = nlohmann::json::parse(hang_json("job", {{one}, {"algo-1"}}));
  CHECK(json["ranks"][0]["where"] == "f\\x1b (a.py:1)");
  CHECK(json["ranks"][0]["quiet_seconds"] == 1.5);
  CHECK(json["places"][0]["ranks"] == "3");
  CHECK(json["no_answer"][0] == "algo-1");
}

TEST_CASE("hang report: where no tool has the lines of a Python program a hint says how to get them") {
  Traces traces{{trace(0, 0s, ""), trace(1, 0s, "")}, {}};
  for (RankTrace& one : traces.ranks) {
    one.process.command = "python3 train.py";
    one.process.tool = "gdb";
    one.process.fault = "gdb was too slow";
  }
  const std::string hint =
      "hint: install py-spy on the hosts for lines of Python, or use --warn-silent D --on-silent stop, at which Python "
      "prints them by itself";
  CHECK(hang_table("t", traces, map_of_two()).back() == hint);
  traces.ranks[1].process.command = "./solver";
  CHECK(hang_table("t", traces, map_of_two()).back() != hint);
}
