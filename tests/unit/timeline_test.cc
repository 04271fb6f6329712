#include "launcher/report/events/timeline.h"

#include <csignal>
#include <numeric>

#include <nlohmann/json.hpp>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::report;
using namespace std::chrono_literals;
using Json = nlohmann::json;

namespace {

const TimePoint kStart = TimePoint(1000h);

// Two hosts with two ranks, and one between them with none.
struct Drawn {
  explicit Drawn(const std::string& program = "train.py") {
    plan::HostList hosts;
    hosts.hosts = {{"a", "", 2}, {"empty", "", 0}, {"b", "", 2}};
    plan.map = *plan::map_job(hosts, std::nullopt, plan::Oversubscribe::No);
    plan.job.job_id = "job-1";
    plan.command = {program, "--lr", "a b"};
    tell(JobBegins{&plan, 1'700'000'000}, 0s);
  }
  void tell(EventPayload what, Duration at) { timeline.on_event({kStart + at, std::move(what)}); }

  plan::LaunchPlan plan;
  Timeline timeline;
};

Drawn failing_job(const std::string& program = "train.py") {
  Drawn job(program);
  job.tell(HostStep{HostId(0), "connecting"}, 0s);
  job.tell(HostStep{HostId(0), "running"}, 1s);
  job.tell(WorkersStart{"a", 1}, 1s);
  job.tell(HostInUse{HostId(2), {40, 100, {{"card0", 87, 1, 2}}}}, 2s);
  for (const std::uint32_t rank : {0U, 1U, 2U}) job.tell(RankStarted{Rank(rank), 10}, 1s);
  job.tell(RankExited{Rank(2), Exited{3}, Ending::ByItself, {1'500'000, 250'000, 64 << 20, 4096, 512}}, 3s);
  job.tell(JobStopping{StopCause::WorkerFailed}, 3s);
  job.tell(RankExited{Rank(0), Signaled{SIGTERM, false}, Ending::Stopped}, 4s);
  job.tell(HostFailed{HostId(2), Error(ErrorKind::Lost, "lost")}, 5s);
  job.tell(HostEnded{HostId(0)}, 6s);
  job.tell(JobEnds{3, "rank 2 failed", Rank(2), {{Rank(2), {"Traceback", "<b>\xff"}}}}, 6s);
  return job;
}

Json data_of(const std::string& page) {
  const std::string open = "<script id=\"data\" type=\"application/json\">";
  const std::size_t begin = page.find(open);
  REQUIRE(begin != std::string::npos);
  const std::size_t end = page.find("</script>", begin);
  return Json::parse(page.substr(begin + open.size(), end - begin - open.size()));
}

}  // namespace

TEST_CASE("hosts, ranks and marks of a job that failed") {
  const Timeline& t = failing_job().timeline;
  REQUIRE(t.hosts().size() == 2);
  CHECK(t.hosts()[1].name == "b");
  CHECK(t.hosts()[1].fault->text == "lost");
  CHECK(t.hosts()[0].end == 6.0);
  REQUIRE(t.ranks().size() == 4);
  CHECK(t.ranks()[2].host == 1);
  CHECK(t.ranks()[2].outcome == Timeline::Outcome::Failed);
  CHECK(t.ranks()[0].outcome == Timeline::Outcome::Stopped);
  CHECK(t.ranks()[1].outcome == Timeline::Outcome::Unknown);
  CHECK(!t.ranks()[1].end);
  CHECK(!t.ranks()[3].start);
  REQUIRE(t.marks().size() == 2);
  CHECK(t.marks()[1].text == "stop: a worker failed");
  CHECK(t.end() == 6.0);
}

TEST_CASE("output is kept by time, in buckets that grow with the job") {
  Drawn job;
  const auto total = [&](std::size_t rank) {
    const auto& output = job.timeline.ranks()[rank].output;
    return std::accumulate(output.begin(), output.end(), std::uint64_t{0});
  };
  for (int i = 0; i < 100; ++i) job.tell(RankOutput{Rank(1), Stream::Stdout, 5}, i * 10ms);
  CHECK(job.timeline.bucket_seconds() == Approx(0.01));
  job.tell(RankOutput{Rank(0), Stream::Stderr, 7}, 100s);
  CHECK(total(1) == 500);
  CHECK(total(0) == 7);
  CHECK(job.timeline.bucket_seconds() * Timeline::kBuckets > 100);
  CHECK(job.timeline.bucket_seconds() * Timeline::kBuckets <= 200);
  CHECK(job.timeline.ranks()[1].output[0] == 5 * 100);  // the first second, within one bucket now
}

TEST_CASE("use of hosts is kept evenly over a long job") {
  Drawn job;
  for (int i = 0; i < 100'000; ++i) job.tell(HostInUse{HostId(0), {1, 2, {}}}, i * 1s);
  const auto& use = job.timeline.hosts()[0].use;
  CHECK(use.size() <= Timeline::kUses);
  CHECK(use.size() >= Timeline::kUses / 4);
  CHECK(use.back().first > 99'000);
  for (std::size_t i = 1; i < use.size(); ++i) CHECK(use[i].first - use[i - 1].first < 3000);
}

TEST_CASE("the page holds its data, and nothing of it is markup") {
  const std::string page = timeline_html(failing_job("</script><script>alert(1)</script>\xff").timeline);
  const Json data = data_of(page);
  CHECK(data["program"] == "</script><script>alert(1)</script>\xef\xbf\xbd");
  CHECK(data["exit_code"] == 3);
  CHECK(data["unix_time"] == 1'700'000'000.0);
  CHECK(data["ranks"][2]["last_lines"] == Json{"Traceback", "<b>\xef\xbf\xbd"});
  CHECK(data["ranks"][2]["usage"] == Json{{"user_s", 1.5},
                                          {"system_s", 0.25},
                                          {"peak_memory_bytes", 64 << 20},
                                          {"read_bytes", 4096},
                                          {"written_bytes", 512}});
  CHECK_FALSE(data["ranks"][3].contains("usage"));
  CHECK(data_of(timeline_html(failing_job().timeline))["command"] == "train.py --lr 'a b'");
  CHECK(data["ranks"][2]["outcome"] == "failed");
  CHECK(data["ranks"][2]["status"] == "exited with status 3");
  CHECK(data["ranks"][3]["start"].is_null());
  CHECK(data["hosts"][1]["use"] == Json::parse(R"([[2.0, 40, 100, ["card0", 87]]])"));
  CHECK(data["hosts"][0]["use"].empty());
  CHECK(data["hosts"][1]["fault"] == Json::parse(R"([5.0, "lost"])"));
  CHECK(page.find("alert(1)</script>") == std::string::npos);
  CHECK(page.find("{{DATA}}") == std::string::npos);
}

TEST_CASE("the page needs no network") {
  const std::string page = timeline_html(failing_job().timeline);
  for (const char* word : {"src=", "href=", "@import", "url(", "https:"}) CHECK(page.find(word) == std::string::npos);
}

TEST_CASE("the trace has a process for each host and a thread for each rank") {
  Drawn job = failing_job();
  job.tell(RankOutput{Rank(3), Stream::Stdout, 1000}, 2s);
  const Json trace = Json::parse(timeline_trace(job.timeline));
  Json runs = Json::array();
  Json names = Json::array();
  double bytes = 0;
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] == "X" && e["tid"] != 0) runs.push_back({e["pid"], e["tid"], e["name"], e["ts"], e["dur"]});
    if (e["ph"] == "M" && e["name"] == "process_name") names.push_back(e["args"]["name"]);
    if (e["ph"] == "C") bytes += e["args"]["bytes per second"].get<double>() * job.timeline.bucket_seconds();
  }
  CHECK(names == Json::parse(R"(["a", "b"])"));
  CHECK(runs == Json::parse(R"x([[1, 1, "was killed by SIGTERM (terminated)", 1000000.0, 3000000.0],
                                 [1, 2, "no end was seen", 1000000.0, 5000000.0],
                                 [2, 3, "exited with status 3", 1000000.0, 2000000.0]])x"));
  CHECK(bytes == Approx(1000));
}

TEST_CASE("a timeline of a job that runs") {
  Drawn job;
  job.tell(WorkersStart{"a", 1}, 1s);
  job.tell(RankStarted{Rank(0), 10}, 1s);
  job.timeline.runs_on(kStart + 30s);
  Json data = data_of(timeline_html(job.timeline));
  CHECK(data["running"] == true);
  CHECK(data["end"] == 30.0);
  CHECK(data["root_cause"].is_null());
  job.tell(AttemptFails{1, 3, "rank 1 failed", Rank(1), 0s}, 31s);
  CHECK(data_of(timeline_html(job.timeline))["verdict"] == "attempt 1 failed: rank 1 failed");
  data = data_of(timeline_html(failing_job().timeline));
  CHECK(data["running"] == false);
  CHECK(data["root_cause"] == 2);
}
