// --notify: which events are told, in which words, and to which URLs.
#include "launcher/notify/notice.h"

#include <nlohmann/json.hpp>

#include "launcher/notify/url.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::notify;
using namespace sml::report;
using namespace std::chrono_literals;
using Json = nlohmann::json;

namespace {

const TimePoint kNoticeStart = TimePoint(1000h);

struct Told {
  explicit Told(std::uint8_t on = kNotifyOnAll) {
    options.notify_on = on;
    plan::HostList hosts;
    hosts.hosts = {{"a", "", 2}, {"b", "", 1}};
    plan.map = *plan::map_job(hosts, std::nullopt, plan::Oversubscribe::No);
    plan.job.job_id = "job-1";
    plan.command = {"train.py", "a b"};
    tell(JobBegins{&plan, 1'700'000'000}, 0s);
  }
  std::optional<Notice> tell(const EventPayload& what, Duration at) {
    return maker.on_event({kNoticeStart + at, what});
  }

  ObserverOptions options;
  plan::LaunchPlan plan;
  NoticeMaker maker{options};
};

std::uint8_t only(NotifyOn kind) { return static_cast<std::uint8_t>(kind); }

std::string refusal_of_url(const std::string& text) {
  const Result<Url> url = Url::parse(text);
  REQUIRE_FALSE(url.has_value());
  return url.error().message();
}

}  // namespace

TEST_CASE("a job with a restart is told as start, failure, restart and end") {
  Told job;
  std::vector<std::string> texts;
  const auto add = [&](const std::optional<Notice>& notice) {
    if (notice) texts.push_back(Json::parse(to_json(*notice))["event"].get<std::string>() + ": " + notice->text);
  };
  add(job.tell(HostReady{HostId(0)}, 1s));
  add(job.tell(WorkersStart{"a", 1}, 1s));
  add(job.tell(AttemptFails{1, 7, "rank 2 exited with status 7", Rank(2), 0s}, 5s));
  add(job.tell(AttemptBegins{2, &job.plan}, 6s));
  add(job.tell(WorkersStart{"a", 1}, 7s));
  add(job.tell(JobEnds{0, "all is well", std::nullopt}, 9s));
  CHECK(texts == std::vector<std::string>{
                     "start: job job-1 has started: 3 ranks on 2 hosts",
                     "failure: attempt 1 of job job-1 has failed: rank 2 exited with status 7",
                     "restart: job job-1 starts again, attempt 2: 3 ranks on 2 hosts",
                     "end: job job-1 has ended with status 0: all is well",
                 });
}

TEST_CASE("a notification has the facts as JSON") {
  Told job;
  const auto notice = job.tell(
      JobEnds{7, "rank 2 failed\n", Rank(2), {{Rank(1), {"other"}}, {Rank(2), {"Traceback", "x\xff\x1b"}}}}, 90s);
  REQUIRE(notice);
  const Json json = Json::parse(to_json(*notice));
  CHECK(json["job_id"] == "job-1");
  CHECK(json["command"] == "train.py 'a b'");
  CHECK(json["hosts"] == 2);
  CHECK(json["ranks"] == 3);
  CHECK(json["time"] == 1'700'000'090);
  CHECK(json["age_s"] == 90);
  CHECK(json["exit_code"] == 7);
  CHECK(json["root_cause"] == 2);
  CHECK(json["last_lines"] == Json({"Traceback", "x\\xff\\x1b"}));
  CHECK(Json::parse(to_slack(*notice)) == Json({{"text", notice->text}}));
}

TEST_CASE("a notification is small, whatever a rank has printed") {
  Told job;
  const std::string flood(100'000, '\xff');
  const auto notice = job.tell(JobEnds{7, flood, Rank(2), {{Rank(2), std::vector<std::string>(1000, flood)}}}, 90s);
  REQUIRE(notice);
  CHECK(to_json(*notice).size() <= kMostBody);
}

TEST_CASE("only what is wanted is told") {
  CHECK_FALSE(Told(only(NotifyOn::End)).tell(WorkersStart{"a", 1}, 1s));
  CHECK_FALSE(Told(only(NotifyOn::Failure)).tell(JobEnds{0, "", std::nullopt}, 1s));
  CHECK(Told(only(NotifyOn::Failure)).tell(JobEnds{3, "", std::nullopt}, 1s)->kind == NotifyOn::Failure);
  CHECK(Told().tell(JobEnds{3, "", std::nullopt}, 1s)->kind == NotifyOn::End);
}

TEST_CASE("URLs of notifications") {
  const Url url = *Url::parse("https://example.org/a?b=c#d");
  CHECK(url.scheme == Url::Scheme::Https);
  CHECK(url.host == "example.org");
  CHECK(url.port == 443);
  CHECK(url.target == "/a?b=c");
  CHECK(Url::parse("http://[::1]:8080")->host == "::1");
  CHECK(Url::parse("http://[::1]:8080")->port == 8080);
  CHECK(Url::parse("http://x?q")->target == "/?q");
  CHECK(post_request(*Url::parse("http://x:81/y"), "{}").starts_with("POST /y HTTP/1.1\r\nHost: x:81\r\n"));
  CHECK(refusal_of_url("http://x:0/").find("port") != std::string::npos);
  CHECK(refusal_of_url("http://x:y/").find("port") != std::string::npos);
  CHECK(refusal_of_url("http://:80/").find("no host") != std::string::npos);
  CHECK(refusal_of_url("http://u:p@x/").find("user name") != std::string::npos);
  CHECK(refusal_of_url("http://[::1/").find("]") != std::string::npos);
}

TEST_CASE("a response counts by its status") {
  CHECK(read_response("HTTP/1.1 204 No Content\r\n\r\n").has_value());
  CHECK(read_response("HTTP/1.1 500 Oh\r\n").error().message() == "answers 500 Oh");
  CHECK(read_response("HTTP/1.1 302 Found\r\n").error().message() == "answers 302 Found");
  CHECK_FALSE(read_response("").has_value());
  CHECK_FALSE(read_response("SSH-2.0-x").has_value());
  CHECK_FALSE(read_response("HTTP/1.1 20").has_value());
}
