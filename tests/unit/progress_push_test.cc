// Progress told to others: the bodies and lines, and when one is sent.
#include <nlohmann/json.hpp>

#include "launcher/inputs/status_server.h"
#include "launcher/notify/progress_facts.h"
#include "launcher/notify/push_machine.h"
#include "launcher/notify/url.h"
#include "launcher/run/watch/progress_file_poller.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::notify;
using namespace std::chrono_literals;
using Json = nlohmann::json;
using Outcome = PushMachine::Outcome;

namespace {

const TimePoint kPushStart = TimePoint(1000h);

TimePoint at(Duration time) { return kPushStart + time; }

// A push that takes no time.
bool pushes(PushMachine& machine, Duration progress, Duration now, Outcome outcome = Outcome::Taken) {
  if (!machine.begins(at(progress), at(now))) return false;
  static_cast<void>(machine.ended(outcome));
  return true;
}

}  // namespace

TEST_CASE("Kubeflow's status has what is known of the progress") {
  ProgressFacts facts{.attempt = 2, .goodput = 0.93149, .step = 120, .total = 1000, .remaining = 90500ms};
  CHECK(Json::parse(to_trainer_status(facts, 1'700'000'000.9)) ==
        Json::parse(R"({"trainerStatus": {"progressPercentage": 12, "estimatedRemainingSeconds": 91, "metrics": [
          {"name": "step", "value": "120"}, {"name": "total_steps", "value": "1000"},
          {"name": "goodput_ratio", "value": "0.931"}, {"name": "attempt", "value": "2"}],
          "lastUpdatedTime": "2023-11-14T22:13:20Z"}})"));
  facts = {.goodput = 0.5};
  CHECK(Json::parse(to_trainer_status(facts, 0)) ==
        Json::parse(R"({"trainerStatus": {"metrics": [{"name": "goodput_ratio", "value": "0.500"},
          {"name": "attempt", "value": "1"}], "lastUpdatedTime": "1970-01-01T00:00:00Z"}})"));
}

TEST_CASE("only a job that has succeeded is all done") {
  ProgressFacts facts{.step = 1000, .total = 1000, .remaining = 0s};
  CHECK(percentage(facts) == 99);
  facts.job = ProgressFacts::Job::Failed;
  CHECK(percentage(facts) == 99);
  CHECK_FALSE(Json::parse(to_trainer_status(facts, 0))["trainerStatus"].contains("estimatedRemainingSeconds"));
  facts = {.job = ProgressFacts::Job::Succeeded};
  CHECK(percentage(facts) == 100);
  CHECK(Json::parse(to_trainer_status(facts, 0))["trainerStatus"]["estimatedRemainingSeconds"] == 0);
  CHECK_FALSE(percentage({.step = 7}).has_value());
  CHECK_FALSE(percentage({.step = 7, .total = 0}).has_value());
  CHECK(percentage({.step = UINT64_MAX, .total = 1}) == 99);
}

TEST_CASE("a line for regular expressions has each number behind a name of its own") {
  CHECK(to_metric_line({.attempt = 2, .goodput = 1.0001, .step = 120, .total = 1000}) ==
        "progress: sml_run_progress_step=120; sml_run_progress_percent=12; sml_run_goodput_ratio=1.000; "
        "sml_run_attempts=2;");
  CHECK(to_metric_line({}) == "progress: sml_run_goodput_ratio=0.000; sml_run_attempts=1;");
}

TEST_CASE("progress is pushed when there is some, and not too often") {
  PushMachine machine(5s);
  CHECK_FALSE(machine.begins(std::nullopt, at(0s)));
  CHECK(pushes(machine, 1s, 1s));
  CHECK_FALSE(pushes(machine, 1s, 100s));  // nothing new
  CHECK(pushes(machine, 99s, 100s));
  CHECK_FALSE(pushes(machine, 103s, 104s));
  CHECK(machine.next_look(at(104s)) == at(105s));
  CHECK_FALSE(pushes(machine, 104s, 104'999ms));
  CHECK(pushes(machine, 104s, 105s));
}

TEST_CASE("one push at a time") {
  PushMachine machine(5s);
  REQUIRE(machine.begins(at(1s), at(1s)));
  CHECK_FALSE(machine.begins(at(20s), at(20s)));
  CHECK_FALSE(machine.ended(Outcome::Taken));
  CHECK(machine.begins(at(20s), at(20s)));
}

TEST_CASE("a server that fails is told of once, and asked less and less often") {
  PushMachine machine(5s);
  REQUIRE(machine.begins(at(1s), at(1s)));
  CHECK(machine.ended(Outcome::Failed));
  CHECK_FALSE(machine.tells_end(at(1s)));
  CHECK_FALSE(machine.begins(at(10s), at(10'999ms)));
  REQUIRE(machine.begins(at(10s), at(11s)));
  CHECK_FALSE(machine.ended(Outcome::Failed));
  CHECK_FALSE(machine.begins(at(30s), at(30'999ms)));
  Duration now = 31s;
  for (int i = 0; i < 20; ++i) pushes(machine, now += 1h, now, Outcome::Failed);
  CHECK_FALSE(pushes(machine, now + 1s, now + PushMachine::kLongestPause - 1s));
  CHECK(pushes(machine, now + 1s, now + PushMachine::kLongestPause));
  CHECK_FALSE(pushes(machine, now + PushMachine::kLongestPause + 2s, now + PushMachine::kLongestPause + 4s));
  CHECK(pushes(machine, now + PushMachine::kLongestPause + 2s, now + PushMachine::kLongestPause + 5s));  // as at first
  CHECK(machine.tells_end(at(now)));
}

TEST_CASE("the end is told of a job that has made progress, pushed or not") {
  PushMachine machine(5s);
  CHECK_FALSE(machine.tells_end(std::nullopt));
  CHECK(machine.tells_end(at(1s)));
}

TEST_CASE("a token is one word") {
  CHECK(*bearer_in(" abc.def-_~+/=\n") == "abc.def-_~+/=");
  CHECK(bearer_in("").error().message() == "is empty");
  CHECK(bearer_in("a\r\nHost: x").error().message() == "holds no token");
  CHECK(bearer_in("a\x80").error().message() == "holds no token");
  CHECK(bearer_in(std::string(kLongestBearer, 'a')).has_value());
  CHECK(bearer_in(std::string(kLongestBearer + 1, 'a')).error().message() == "is too long for a token");
  const Url url = *Url::parse("https://x/y");
  CHECK(post_request(url, "{}", "abc").find("\r\nAuthorization: Bearer abc\r\n") != std::string::npos);
  CHECK(post_request(url, "{}").find("Authorization") == std::string::npos);
}

TEST_CASE("Kubeflow's server is used where the platform names it with a token") {
  const auto chosen = [](plan::Environment environment, ProgressPush push = ProgressPush::Yes) {
    ThisHost here;
    here.process.environment = std::move(environment);
    Options options;
    options.observers.progress_push = push;
    choose_status_server(options, here);
    const StatusServer& server = options.observers.status_server;
    return server.url + " " + server.authorities + " " + server.token_file;
  };
  const plan::Environment url{"KUBEFLOW_TRAINER_SERVER_URL=https://x/status"};
  plan::Environment all = url;
  all.emplace_back("KUBEFLOW_TRAINER_SERVER_TOKEN=/run/token");
  CHECK(chosen(url) == "  ");
  CHECK(chosen(all) == "https://x/status  /run/token");
  all.emplace_back("KUBEFLOW_TRAINER_SERVER_CA_CERT=/run/ca");
  CHECK(chosen(all) == "https://x/status /run/ca /run/token");
  CHECK(chosen(all, ProgressPush::No) == "  ");
}

TEST_CASE("a progress file tells a step, and perhaps of how many") {
  const auto told = [](std::string_view text) {
    const report::StepNumbers numbers = run::step_in(text);
    return (numbers.step ? std::to_string(*numbers.step) : "-") + " " +
           (numbers.total ? std::to_string(*numbers.total) : "-");
  };
  CHECK(told(" 120 \nmore\n") == "120 -");
  CHECK(told("120/1000\n") == "120 1000");
  CHECK(told("120 / 1000") == "120 1000");
  CHECK(told("120/\n") == "- -");
  CHECK(told("epoch 3\n") == "- -");
  CHECK(told("") == "- -");
}
