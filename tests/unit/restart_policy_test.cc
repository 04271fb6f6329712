#include "launcher/run/restarts/restart_policy.h"

#include <csignal>
#include <vector>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::run;
using namespace std::chrono_literals;
using report::FailureCause;

namespace {

const TimePoint kStart = TimePoint(1000h);
constexpr double kMiddle = 0.5;  // no jitter

// Attempts one after the other, each as long as it is said.
struct Job {
  RestartOptions options{.max = 3, .window = {}, .delay = {}, .give_up = {}, .progress_file = {}};
  Signs signs{.all_joined = true, .some_joined = true};
  std::vector<PastAttempt> history{};
  TimePoint now = kStart;

  Decision fails(const std::optional<ExitStatus>& status, Duration after, FailureCause cause = FailureCause::Worker) {
    history.push_back({.started = now, .ended = now + after, .cause = cause, .status = status, .signs = signs});
    now += after;
    return decide(options, history, kMiddle);
  }
  Decision fails(int code, Duration after = 1s) { return fails(ExitStatus(Exited{code}), after); }
};

bool again(const Decision& decision) { return std::holds_alternative<TryAgain>(decision); }
Duration delay(const Decision& decision) { return std::get<TryAgain>(decision).delay; }
std::string why(const Decision& decision) { return std::get<EndJob>(decision).why; }

}  // namespace

TEST_CASE("restarts: workers that have gone on without others have used some") {
  Job job;
  job.history.push_back(
      {.started = kStart, .ended = kStart, .cause = FailureCause::Worker, .signs = job.signs, .resets = 1});
  CHECK(again(job.fails(1)));
  CHECK(why(job.fails(1)) == "3 restarts have been used (--max-restarts)");
}

TEST_CASE("restarts: one budget for the whole job, whichever rank fails") {
  Job job;
  for (int restart = 0; restart < 3; ++restart) CHECK(again(job.fails(1)));
  CHECK(why(job.fails(1)) == "3 restarts have been used (--max-restarts)");
}

TEST_CASE("restarts: none unless they are asked for") {
  Job job;
  job.options.max = 0;
  CHECK(why(job.fails(1)).empty());
}

TEST_CASE("restarts: with a window only those count that are not longer ago") {
  Job job;
  job.options.max = 1;
  job.options.window = 10min;
  CHECK(again(job.fails(1, 5min)));
  CHECK(again(job.fails(1, 11min)));
  CHECK(why(job.fails(1, 9min)) == "1 restart has been used in 10 min (--max-restarts)");
}

TEST_CASE("restarts: what would come again, or was wanted, ends the job") {
  for (const int code : {2, 126, 127}) {
    CAPTURE(code);
    CHECK(why(Job().fails(code)) == "status " + std::to_string(code) + " would come again");
  }
  CHECK(why(Job().fails(ExitStatus(SpawnFailed{SpawnStep::Exec, ENOENT}), 0s)) == "status 127 would come again");
  CHECK(again(Job().fails(ExitStatus(Signaled{SIGINT, false}), 1s)));
  for (const FailureCause cause : {FailureCause::Success, FailureCause::User, FailureCause::TimeLimit}) {
    CHECK(why(Job().fails(std::nullopt, 1s, cause)).empty());
  }
  for (const FailureCause cause :
       {FailureCause::Host, FailureCause::Launcher, FailureCause::Output, FailureCause::Unknown}) {
    CHECK(!why(Job().fails(std::nullopt, 1s, cause)).empty());
  }
  CHECK(again(Job().fails(std::nullopt, 1s, FailureCause::Stalled)));
}

TEST_CASE("restarts: what is stalled is tried again, unless its end was to be that of the job") {
  using Then = report::NoProgress::Then;
  for (const Then then : {Then::AsAfterFailures, Then::JobEnds}) {
    Job job;
    report::AttemptFacts facts;
    facts.stalled = report::AttemptFacts::Stalled{
        {.ranks = {}, .limit = report::NoProgress::Limit::Silence, .then = then}, "", kStart};
    job.history.push_back(past_attempt(facts, report::judge(facts), kStart + 1s));
    const Decision decision = decide(job.options, job.history, kMiddle);
    CHECK(again(decision) == (then == Then::AsAfterFailures));
    if (then == Then::JobEnds) CHECK(why(decision).empty());
  }
}

TEST_CASE("restarts: a stop by the user is the job's end, though a rank had failed before") {
  report::AttemptFacts facts;
  facts.started = kStart;
  facts.ends.emplace_back();
  facts.ends.back().status = Exited{1};
  facts.ends.back().at = kStart + 1s;
  const auto decision = [&] {
    Job job;
    job.history.push_back(past_attempt(facts, report::judge(facts), kStart + 9s));
    CHECK(job.history.back().cause == FailureCause::Worker);
    return decide(job.options, job.history, kMiddle);
  };
  CHECK(again(decision()));
  facts.stop_signal = SIGINT;
  facts.stop_at = kStart + 5s;
  CHECK(why(decision()).empty());
  facts.stop_signal.reset();
  facts.timed_out = kStart + 5s;
  CHECK(why(decision()).empty());
}

TEST_CASE("restarts: a lost host is made up for where another attempt has its hosts") {
  Job job;
  job.history.push_back({.started = kStart, .ended = kStart + 1s, .cause = FailureCause::Host, .host_is_out = true});
  CHECK(again(decide(job.options, job.history, kMiddle)));
  job.history[0].would_recur = true;
  CHECK(why(decide(job.options, job.history, kMiddle)) == "that would come again");
  for (const FailureCause cause :
       {FailureCause::Host, FailureCause::Worker}) {  // its peers may have been the first to fail
    job.history[0] = {.started = kStart,
                      .ended = kStart + 1s,
                      .cause = cause,
                      .status = {},
                      .host_is_out = true,
                      .no_hosts = "b is out"};
    CHECK(why(decide(job.options, job.history, kMiddle)) == "b is out");
  }
}

TEST_CASE("restarts: an attempt that has lost a host before its workers began costs nothing, and no time") {
  Job job;
  job.options.max = 1;
  job.options.delay = {.first = 5s, .most = 30s};
  const auto lose = [&job](bool another_has_hosts) {
    job.history.push_back({.started = job.now,
                           .ended = job.now + 1s,
                           .cause = FailureCause::Host,
                           .host_is_out = true,
                           .is_no_restart = true,
                           .no_hosts = another_has_hosts ? "" : "b is out"});
    return decide(job.options, job.history, kMiddle);
  };
  for (int host = 0; host < 4; ++host) CHECK(delay(lose(true)) == 0s);
  CHECK(delay(job.fails(1)) == 5s);
  CHECK(again(lose(true)));
  CHECK(why(lose(false)) == "b is out");
  CHECK(why(job.fails(1)) == "1 restart has been used (--max-restarts)");
}

TEST_CASE("restarts: none beside processes that could not be ended, unless the job does without their host") {
  Job job;
  job.history.push_back({.started = kStart,
                         .ended = kStart + 1s,
                         .cause = FailureCause::Worker,
                         .status = ExitStatus(Exited{1}),
                         .left_behind = true});
  CHECK(again(decide(job.options, job.history, kMiddle)));
  job.history.back().no_hosts = "b is out";
  CHECK(why(decide(job.options, job.history, kMiddle)) == "processes of this attempt could not be ended; b is out");
}

TEST_CASE("restarts: the delay doubles up to its limit, and is small again after a healthy attempt") {
  Job job;
  job.options.max = 100;
  job.options.delay = {.first = 5s, .most = 30s};
  for (const Duration expected : {5s, 10s, 20s, 30s, 30s}) CHECK(delay(job.fails(1)) == expected);
  CHECK(delay(job.fails(1, 60s)) == 5s);
  CHECK(delay(job.fails(1)) == 5s);
  CHECK(delay(job.fails(1)) == 10s);
}

TEST_CASE("restarts: by default the first one comes at once, and the next ones do not") {
  Job job;
  job.options.max = 100;
  for (const Duration expected : {0s, 1s, 2s, 4s, 8s, 16s, 30s, 30s}) CHECK(delay(job.fails(1)) == expected);
  job.options.delay = {.first = 0s, .most = 0s};
  CHECK(delay(job.fails(1)) == 0s);
}

TEST_CASE("restarts: many jobs that failed together do not all come back together") {
  Job job;
  job.options.delay = {.first = 10s, .most = 10s};
  job.fails(1);
  CHECK(delay(decide(job.options, job.history, 0.0)) == 9s);
  CHECK(delay(decide(job.options, job.history, 1.0)) == 11s);
}

TEST_CASE("progress: two attempts in a row without it end the job, whatever restarts are left") {
  Job job;
  job.options.max = 100;
  CHECK(again(job.fails(1)));
  job.signs.all_joined = false;
  CHECK(again(job.fails(1, 59s)));
  CHECK(again(job.fails(1, 60s)));  // long enough
  CHECK(again(job.fails(1)));
  const Decision end = job.fails(1, 59s);
  CHECK(
      why(end) ==
      "gave up after 2 attempts in a row (status 1) of 101 allowed: they ended within a minute, and not all ranks had "
      "joined; --max-fruitless 0 keeps trying");
  job.options.most_without_progress = 0;
  CHECK(again(job.fails(1)));
  job.history.clear();
  job.options.most_without_progress = 1;
  CHECK(why(job.fails(1)).starts_with("gave up after 1 attempt (status 1) of 101 allowed: it ended within"));
}

TEST_CASE("progress: of a program that joins nowhere attempts do not count, unless the user says so") {
  Job job;
  job.options.max = 5;
  job.signs = {};
  for (int restart = 0; restart < 5; ++restart) CHECK(again(job.fails(7)));
  CHECK(why(job.fails(7)) == "5 restarts have been used (--max-restarts)");
  job.history.resize(1);
  job.options.most_without_progress = 2;
  CHECK(why(job.fails(7)).starts_with("gave up after 2 attempts in a row (status 7) of 6 allowed: they ended within"));
  job.options.most_without_progress.reset();
  job.history.resize(1);
  job.signs.some_joined = true;
  CHECK(why(job.fails(7)).starts_with("gave up after 2 attempts"));
  job.history.resize(1);
  job.signs = {.file_touched = false};
  CHECK(why(job.fails(7)).starts_with("gave up after 2 attempts"));
}

TEST_CASE("progress: a file or lines that are named are alone what counts") {
  Job job;
  job.options.max = 100;
  job.signs.file_touched = false;
  CHECK(again(job.fails(1, 1h)));
  job.signs.file_touched = true;
  CHECK(again(job.fails(1)));
  job.signs.file_touched = false;
  CHECK(again(job.fails(1)));
  CHECK(why(job.fails(1)).find(" of 101 allowed: the file of --progress-file was not touched;") != std::string::npos);
  job.signs.line_matched = true;  // one is enough
  CHECK(again(job.fails(1)));
  job.signs.line_matched = false;
  CHECK(again(job.fails(std::nullopt, 1h, FailureCause::Stalled)));
  CHECK(why(job.fails(1)).find("not touched, and no line matched --watch;") != std::string::npos);
  job.history.clear();
  job.signs.file_touched.reset();
  CHECK(again(job.fails(1)));
  CHECK(why(job.fails(1)).find(" of 101 allowed: no line matched --watch;") != std::string::npos);
}

TEST_CASE("progress: an attempt that a host has ended says nothing") {
  Job job;
  job.options.max = 100;
  job.signs.all_joined = false;
  CHECK(again(job.fails(1)));
  for (int lost = 0; lost < 3; ++lost) {
    job.history.push_back(
        {.started = job.now, .ended = job.now + 1s, .cause = FailureCause::Host, .host_is_out = true});
    CHECK(again(decide(job.options, job.history, kMiddle)));
  }
  CHECK(why(job.fails(1)).starts_with("gave up after 2 attempts"));
}

TEST_CASE("progress: failures of one host alone are left to exclusion") {
  Job job;
  job.options.max = 100;
  job.options.exclude.after = 3;
  job.signs.all_joined = false;
  const auto fails_on = [&job](std::uint32_t host) {
    job.history.push_back({.started = job.now,
                           .ended = job.now + 1s,
                           .cause = FailureCause::Worker,
                           .status = ExitStatus(Exited{1}),
                           .signs = job.signs,
                           .root = HostId(host)});
    return decide(job.options, job.history, kMiddle);
  };
  for (int i = 0; i < 3; ++i) CHECK(again(fails_on(1)));
  CHECK(why(fails_on(4)).starts_with("gave up after 4 attempts"));
}

TEST_CASE("progress: what else ends the job goes before, with the attempt's own status") {
  Job job;
  job.signs.all_joined = false;
  job.options.max = 1;
  job.fails(1);
  const Decision spent = job.fails(1);
  CHECK(why(spent) == "1 restart has been used (--max-restarts)");
  job = Job();
  job.signs.all_joined = false;
  job.options.give_up = *GiveUpRule::parse("3/60s:7");
  CHECK(again(job.fails(7)));
  CHECK(again(job.fails(7)));  // the rule says how many are too many
  CHECK(why(job.fails(7)) == "--give-up 3/60s:7");
}

TEST_CASE("giving up: so many failures of a kind within a time are enough") {
  Job job;
  job.options.max = 100;
  job.options.give_up = *GiveUpRule::parse("2/60s:1,101-103;SIGSEGV;5");
  CHECK(again(job.fails(1, 10s)));
  CHECK(again(job.fails(7, 10s)));
  CHECK(again(job.fails(102, 100s)));  // the one before is long ago
  CHECK(why(job.fails(103, 10s)) == "--give-up 2/60s:1,101-103");
  job.history.resize(1);
  CHECK(why(job.fails(ExitStatus(Signaled{SIGSEGV, true}), 1s)) == "--give-up SIGSEGV");
}

TEST_CASE("giving up: without a list any failure counts") {
  Job job;
  job.options.give_up = *GiveUpRule::parse("2/60s");
  CHECK(again(job.fails(1)));
  CHECK(why(job.fails(std::nullopt, 1s, FailureCause::Stalled)) == "--give-up 2/60s");
}

TEST_CASE("giving up: the grammar") {
  const std::vector<GiveUpRule> rules = *GiveUpRule::parse("5/60s:1,101-103,SIGSEGV;3:KILL;9");
  REQUIRE(rules.size() == 3);
  CHECK(rules[0].failures == 5);
  CHECK(rules[0].within == 60s);
  CHECK(rules[0].counts(ExitStatus(Exited{101})));
  CHECK(!rules[0].counts(ExitStatus(Exited{104})));
  CHECK(!rules[0].counts(ExitStatus(Exited{139})));  // a status, not a signal
  CHECK(rules[0].counts(ExitStatus(Signaled{SIGSEGV, true})));
  CHECK(!rules[0].counts(std::nullopt));
  CHECK(!rules[1].within);
  CHECK(rules[1].failures == 3);
  CHECK(rules[2].failures == 1);
  CHECK(rules[2].counts(ExitStatus(Exited{9})));
  for (const char* bad :
       {"", "0", "256", "1-", "3-1", "0/60s", "5/", "5/0s", "5/60s:", "1,,2", "SIGNOPE", ":1", "5/60s:1:2", ";"}) {
    CAPTURE(bad);
    const auto parsed = GiveUpRule::parse(bad);
    REQUIRE(!parsed);
    CHECK(parsed.error().message().find(" is not ") != std::string::npos);
  }
}

TEST_CASE("restart delay: one duration, or two") {
  CHECK(RestartDelay::parse("5s")->first == 5s);
  CHECK(RestartDelay::parse("5s")->most == 30s);
  CHECK(RestartDelay::parse("1m")->most == 1min);
  CHECK(RestartDelay::parse("1s:2m")->most == 2min);
  CHECK(RestartDelay::parse("0:0")->most == 0s);
  for (const char* bad : {"", "x", "5s:", "5s:1s", ":5s", "1:2:3"}) {
    CAPTURE(bad);
    CHECK(!RestartDelay::parse(bad));
  }
}
