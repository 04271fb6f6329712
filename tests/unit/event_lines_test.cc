#include "launcher/report/events/event_lines.h"

#include <csignal>

#include <nlohmann/json.hpp>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::report;
using namespace std::chrono_literals;
using Json = nlohmann::json;

namespace {

const TimePoint kStart = TimePoint(1000h);

plan::LaunchPlan plan_of(const std::string& first_host) {
  plan::HostList hosts;
  hosts.hosts = {{first_host, "", 2}, {"empty", "", 0}, {"b", "", 1}};
  plan::LaunchPlan plan;
  plan.map = *plan::map_job(hosts, std::nullopt, plan::Oversubscribe::No);
  plan.job.job_id = "job-1";
  plan.command = {"train.py", "--password", "geheim"};
  return plan;
}

// What the events of a job become, after its beginning at the wall clock's 1,700,000,000 s.
struct Written {
  explicit Written(const std::string& first_host = "a") : plan(plan_of(first_host)) {
    feed.add(lines);
    feed.publish(JobBegins{&plan, 1'700'000'000}, kStart);
  }
  Json tell(EventPayload what, Duration after = 1500ms) {
    feed.publish(std::move(what), kStart + after);
    return last();
  }
  Json last() const { return text.empty() ? Json() : Json::parse(text.back()); }

  plan::LaunchPlan plan;
  std::vector<std::string> text;
  EventLines lines{[this](std::string& line) { text.push_back(line); }};
  EventFeed feed;
};

}  // namespace

TEST_CASE("the first line says which job it is, and nothing of its arguments") {
  Written written;
  const Json first = written.last();
  CHECK(first["event"] == "job_start");
  CHECK(first["schema"] == 1);
  CHECK(first["t"] == 0.0);
  CHECK(first["time"] == "2023-11-14T22:13:20.000000Z");
  CHECK(first["job_id"] == "job-1");
  CHECK(first["world_size"] == 3);
  CHECK(first["hosts"] == Json::parse(R"([{"host":"a","index":0,"first_rank":0,"ranks":2},
                                          {"host":"b","index":2,"first_rank":2,"ranks":1}])"));
  CHECK(written.text.back().find("geheim") == std::string::npos);
}

TEST_CASE("every line is one object with both times") {
  Written written;
  const Json line = written.tell(HostReady{HostId(2)});
  CHECK(line == Json::parse(R"({"event":"host_ready","t":1.5,"time":"2023-11-14T22:13:21.500000Z","host":"b"})"));
  CHECK(written.text.back().back() == '\n');
  CHECK(written.text.back().find('\n') == written.text.back().size() - 1);
}

TEST_CASE("ranks are named with their host, and exits in the words of the report") {
  Written written;
  CHECK(written.tell(RankStarted{Rank(2), 4711})["host"] == "b");
  const Json itself = written.tell(RankExited{Rank(1), Exited{3}, Ending::ByItself});
  CHECK(itself["rank"] == 1);
  CHECK(itself["status"] == Json::parse(R"({"text":"exited with status 3","exit_code":3})"));
  CHECK(itself["stopped_by"].is_null());
  CHECK(itself["usage"]["user_s"] == 0.0);
  const Json stopped = written.tell(RankExited{Rank(0), Signaled{SIGTERM, false}, Ending::Stopped});
  CHECK(stopped["status"]["signal"] == SIGTERM);
  CHECK(stopped["stopped_by"] == "sml-run");
}

TEST_CASE("output is counted, not told") {
  Written written;
  const std::size_t before = written.text.size();
  written.tell(RankOutput{Rank(1), Stream::Stdout, 100});
  written.tell(RankOutput{Rank(1), Stream::Stderr, 7});
  written.tell(RankOutput{Rank(1), Stream::Stdout, 1});
  CHECK(written.text.size() == before);
  const Json line = written.tell(RankDrained{Rank(1)});
  CHECK(line["event"] == "rank_output_end");
  CHECK(line["stdout_bytes"] == 101);
  CHECK(line["stderr_bytes"] == 7);
}

TEST_CASE("signals, the stop and the verdict") {
  Written written;
  const Json signal = written.tell(SignalCame{SIGUSR1, SignalUse::PassedOn});
  CHECK(signal["signal"] == "SIGUSR1");
  CHECK(signal["use"] == "passed_on");
  CHECK(written.tell(JobStopping{StopCause::Launcher})["cause"] == "launcher");
  CHECK(written.tell(JobStopping{StopCause::WorkerFailed})["cause"] == "worker_failed");
  const Json verdict = written.tell(JobEnds{3, "rank 1 failed", Rank(1)});
  CHECK(verdict["exit_code"] == 3);
  CHECK(verdict["culprit"] == 1);
  CHECK(written.tell(JobEnds{0, "well", std::nullopt})["culprit"].is_null());
}

TEST_CASE("hosts that come and go are named, whether they have ranks or not") {
  Written written;
  const Json line = written.tell(HostListChanged{{"n4", "n5"}, {}, {"b"}});
  CHECK(line["event"] == "host_list_changed");
  CHECK(line["new"] == Json::parse(R"(["n4","n5"])"));
  CHECK(line["again"] == Json::array());
  CHECK(line["withdrawn"] == Json::parse(R"(["b"])"));
}

TEST_CASE("hosts are named as they are placed now") {
  Written written;
  CHECK(written.tell(HostReady{HostId(0)})["host"] == "a");
  std::swap(written.plan.map.hosts[0], written.plan.map.hosts[1]);
  written.tell(AttemptBegins{2, &written.plan});
  CHECK(written.tell(HostReady{HostId(0)})["host"] == "a");
  CHECK(written.tell(HostReady{HostId(1)})["host"] == "empty");
  written.plan.map.hosts.push_back({.host = {"late", "", 1}, .slots = 1, .ranks = {}, .id = HostId(3)});
  CHECK(written.tell(HostReady{HostId(3)})["host"] == "late");
}

TEST_CASE("bytes that are no UTF-8 do not spoil the file") {
  Written written("a");
  const Json line = written.tell(HostFailed{HostId(0), Error(ErrorKind::Deploy, "the login printed: \xff\n")});
  CHECK(line["message"] == "the login printed: \xef\xbf\xbd\n");
  CHECK(line["kind"] == "deploy");
}

TEST_CASE("ISO times") {
  CHECK(iso_time(0) == "1970-01-01T00:00:00.000000Z");
  CHECK(iso_time(-5) == "1970-01-01T00:00:00.000000Z");
  CHECK(iso_time(1'700'000'000.25) == "2023-11-14T22:13:20.250000Z");
  CHECK(iso_time(1e300) == "9999-12-31T23:59:59.000000Z");
}
