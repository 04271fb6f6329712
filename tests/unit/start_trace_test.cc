// --trace: the spans of a start.
#include "launcher/report/events/start_trace.h"

#include <nlohmann/json.hpp>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::report;
using namespace std::chrono_literals;
using Json = nlohmann::json;

namespace {

const TimePoint kTraceStart = TimePoint(1000h);

struct Traced {
  Traced() {
    plan::HostList hosts;
    hosts.hosts = {{"a", "", 1}, {"empty", "", 0}, {"b\xff", "", 2}};
    plan.map = *plan::map_job(hosts, std::nullopt, plan::Oversubscribe::No);
    plan.job.job_id = "job-1";
    tell(JobBegins{&plan, 0}, 1s);
  }
  void tell(const EventPayload& what, Duration at) { trace.on_event({kTraceStart + at, what}); }
  // "NAME FROM-TO", in seconds, of the process; an open one ends with a +.
  std::vector<std::string> spans(std::size_t process, Duration now) const {
    std::vector<std::string> out;
    const Json all = Json::parse(trace.json(kTraceStart + now));
    for (const Json& one : all["traceEvents"]) {
      if (one["ph"] != "X" || one["pid"] != process) continue;
      const auto from = std::lround(one["ts"].get<double>() / 1e6);
      const auto to = std::lround((one["ts"].get<double>() + one["dur"].get<double>()) / 1e6);
      out.push_back(one["name"].get<std::string>() + " " + std::to_string(from) + "-" + std::to_string(to) +
                    (one.contains("args") ? "+" : ""));
    }
    return out;
  }

  plan::LaunchPlan plan;
  StartTrace trace{kTraceStart};
};

using Spans = std::vector<std::string>;

}  // namespace

TEST_CASE("viewers draw the launcher first and the hosts in the job's order") {
  const Traced job;
  std::vector<std::size_t> order;
  const Json all = Json::parse(job.trace.json(kTraceStart + 5s));
  for (const Json& one : all["traceEvents"]) {
    if (one["name"] == "process_sort_index" && one["pid"] == one["args"]["sort_index"]) order.push_back(one["pid"]);
  }
  CHECK(order == std::vector<std::size_t>{0, 1, 3});
}

TEST_CASE("the start of a job is a span for each step of each host") {
  Traced job;
  job.tell(HostStep{HostId(0), "connecting"}, 1s);
  job.tell(HostStep{HostId(2), "connecting"}, 1s);
  job.tell(HostStep{HostId(0), "sending the agent"}, 2s);
  job.tell(HostStep{HostId(0), "preparing"}, 3s);
  job.tell(HostReady{HostId(0)}, 4s);
  CHECK(job.spans(1, 5s) == Spans{"connecting 1-2", "sending the agent 2-3", "preparing 3-4", "waits for hosts 4-5+"});
  CHECK(job.spans(3, 5s) == Spans{"connecting 1-5+"});
  job.tell(HostStep{HostId(2), "preparing"}, 6s);
  job.tell(HostReady{HostId(2)}, 7s);
  job.tell(WorkersStart{"a", 1}, 9s);
  job.tell(HostStep{HostId(2), "running"}, 9s);
  for (const std::uint32_t rank : {0U, 1U, 2U}) job.tell(RankStarted{Rank(rank), 10}, 10s + rank * 1s);
  job.tell(RankOutput{Rank(0), Stream::Stdout, 1}, 13s);
  job.tell(RankOutput{Rank(0), Stream::Stdout, 1}, 14s);
  job.tell(RankExited{Rank(1), Exited{0}}, 15s);
  job.tell(RankOutput{Rank(2), Stream::Stderr, 1}, 16s);
  job.tell(RankOutput{Rank(2), Stream::Stderr, 1}, 17s);
  CHECK(job.spans(0, 20s) == Spans{"plan 0-1", "hosts 1-9"});
  CHECK(job.spans(1, 20s) == Spans{"connecting 1-2", "sending the agent 2-3", "preparing 3-4", "waits for hosts 4-7",
                                   "probe 7-9", "start 9-10", "first output 10-13"});
  CHECK(job.spans(3, 20s) == Spans{"connecting 1-6", "preparing 6-7", "probe 7-9", "start 9-12", "first output 12-16"});
}

TEST_CASE("a start that fails is traced up to there") {
  Traced job;
  job.tell(HostStep{HostId(0), "connecting"}, 1s);
  job.tell(HostFailed{HostId(0), Error(ErrorKind::Connect, "refused")}, 3s);
  job.tell(JobEnds{125, "refused", std::nullopt}, 4s);
  CHECK(job.spans(1, 4s) == Spans{"connecting 1-3"});
  CHECK(job.trace.json(kTraceStart + 4s).find("refused") != std::string::npos);
}

namespace {

// All ranks run: those of host 0 since 10 s, those of host 2 since 12 s.
struct RunningJob : Traced {
  RunningJob() {
    for (const HostId host : {HostId(0), HostId(2)}) tell(HostReady{host}, 7s);
    tell(WorkersStart{"a", 1}, 9s);
    for (const std::uint32_t rank : {0U, 1U, 2U}) tell(RankStarted{Rank(rank), 10}, 10s + rank * 1s);
  }
};

}  // namespace

TEST_CASE("a fence of MPI shows which host joins late, even after all have printed") {
  RunningJob job;
  for (const std::uint32_t rank : {0U, 1U, 2U}) job.tell(RankOutput{Rank(rank), Stream::Stdout, 1}, 13s);
  job.tell(HostAtFence{HostId(0)}, 14s);
  CHECK(job.spans(1, 15s) ==
        Spans{"probe 7-9", "start 9-10", "join 10-14", "waits for ranks 14-15+", "first output 10-13"});
  CHECK(job.spans(0, 15s) == Spans{"plan 0-1", "hosts 1-9"});
  job.tell(HostAtFence{HostId(2)}, 18s);
  job.tell(HostAtFence{HostId(0)}, 19s);  // another fence
  CHECK(job.spans(1, 20s) ==
        Spans{"probe 7-9", "start 9-10", "join 10-14", "waits for ranks 14-18", "first output 10-13"});
  CHECK(job.spans(3, 20s) == Spans{"probe 7-9", "start 9-12", "join 12-18", "first output 12-13"});
  CHECK(job.spans(0, 20s) == Spans{"plan 0-1", "hosts 1-9", "join 12-18"});
}

TEST_CASE("a store tells when all ranks have joined, and nothing of hosts") {
  RunningJob job;
  job.tell(RanksMet{}, 20s);
  CHECK(job.spans(0, 30s) == Spans{"plan 0-1", "hosts 1-9", "join 12-20"});
  CHECK(job.spans(1, 30s) == Spans{"probe 7-9", "start 9-10", "first output 10-30+"});
}

TEST_CASE("what comes after the attempt is no part of its start") {
  RunningJob job;
  job.tell(AttemptFails{1, 7, "rank 2 failed", Rank(2), 0s}, 13s);
  job.tell(RanksMet{}, 20s);
  CHECK(job.spans(0, 30s) == Spans{"plan 0-1", "hosts 1-9"});
}
