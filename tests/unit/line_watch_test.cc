#include "launcher/report/live/line_watch.h"

#include <nlohmann/json.hpp>

#include "launcher/report/outcome/job_outcome.h"
#include "launcher/report/outcome/report_json.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::report;
using namespace std::chrono_literals;
using Limit = NoProgress::Limit;

namespace {

const TimePoint kStart{1h};
constexpr std::uint32_t kLargest = 999'999;

WatchRule rule(std::string_view text) { return *WatchRule::parse(text, kLargest); }

// Two ranks that have started.
struct Watched {
  explicit Watched(std::string_view text) : watch(rule(text), 2) {
    for (const std::uint32_t rank : {0U, 1U}) watch.started(Rank(rank), kStart);
  }
  void print(std::uint32_t rank, std::string_view bytes, Duration after, Stream stream = Stream::Stdout) {
    watch.add(Rank(rank), stream, bytes, kStart + after);
  }
  // The ranks whose time is over then: "first 0-1", "every 1"; empty: none.
  std::string late(Duration after) const {
    const std::optional<NoProgress> what = watch.on_time(kStart + after);
    if (!what) return {};
    return (what->limit == Limit::First ? "first " : "every ") + what->ranks.text();
  }
  LineWatch watch;
};

}  // namespace

TEST_CASE("a rule of --watch") {
  const WatchRule both = rule("loss=[0-9.]+;first=600;every=1.5m");
  CHECK(both.pattern.text() == "loss=[0-9.]+");
  CHECK(both.first == 600s);
  CHECK(both.every == 90s);
  CHECK_FALSE(both.ranks);
  const WatchRule other = rule("a;b;ranks=0,4-5;every=2h");
  CHECK(other.pattern.text() == "a;b");
  CHECK_FALSE(other.first);
  CHECK(other.every == 2h);
  CHECK(other.ranks->text() == "0,4-5");
  CHECK(rule("x;A=1;first=1").pattern.text() == "x;A=1");  // no setting is written so
  CHECK(rule("x;first=1;first=2").first == 1s);
}

TEST_CASE("every bad rule of --watch is refused by what is wrong with it") {
  struct Row {
    std::string text;
    const char* message;
  };
  const Row rows[] = {
      {"", "the regular expression is empty; . stands for any line with text"},
      {";first=1", "the regular expression is empty; . stands for any line with text"},
      {"loss;first=",
       "\"first=\" is not first=D or every=D with a duration of 100 ms or more, such as 90, 90s, 1.5m or 2h"},
      {"loss;every=soon",
       "\"every=soon\" is not first=D or every=D with a duration of 100 ms or more, such as 90, 90s, 1.5m or 2h"},
      {"loss;every=0",
       "\"every=0\" is not first=D or every=D with a duration of 100 ms or more, such as 90, 90s, 1.5m or 2h"},
      {"loss;evry=5",
       "\"evry=5\" is not first=D, every=D or ranks=LIST; a ; of the regular expression is written as \\x3b"},
      {"loss(;first=1", "\"loss(\" is no regular expression: missing ): loss("},
      {"*;first=1", "\"*\" is no regular expression: no argument for repetition operator: *"},
      {"(a)\\1;first=1", "\"(a)\\1\" is no regular expression: invalid escape sequence: \\1"},
      {"a{1001};first=1", "\"a{1001}\" is no regular expression: invalid repetition size: {1001}"},
      {"((a{100}){100}){100};first=1",
       "\"((a{100}){100}){100}\" is no regular expression: invalid repetition size: {100}"},
      {std::string(5000, 'a') + ";first=1", "the regular expression is longer than 4096 bytes"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Result<WatchRule> parsed = WatchRule::parse(row.text, kLargest);
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().kind() == ErrorKind::Usage);
    CHECK(parsed.error().message() == row.message);
  }
  CHECK_FALSE(WatchRule::parse("a;first=1;ranks=x", kLargest).has_value());
  CHECK_FALSE(WatchRule::parse("a;first=1;ranks=9", 8).has_value());
}

TEST_CASE("the first line that matches has its own limit") {
  Watched job("loss;first=10;every=2");
  CHECK(job.late(9999ms).empty());
  CHECK(job.late(10s) == "first 0-1");
  job.print(1, "loss 1\n", 9s);
  CHECK(job.late(10s) == "first 0");
  job.print(0, "epoch\nthe loss is 2\n", 10s);
  CHECK(job.late(10999ms).empty());
  CHECK(job.late(11s) == "every 1");
  CHECK(job.late(12s) == "every 0-1");
}

TEST_CASE("lines that do not match do not count, those that do begin the time anew") {
  Watched job("^step [0-9]+;every=2");
  CHECK(job.late(1000s).empty());  // without a first line there is no second
  job.print(0, "step 1\n", 1s);
  job.print(0, "no step 2\n", 2s);
  CHECK(job.late(3s) == "every 0");
  job.print(0, "step 2\n", 2500ms);
  CHECK(job.late(4s).empty());
}

TEST_CASE("without a limit for further lines one is enough") {
  Watched job("ready;first=5");
  job.print(0, "ready\n", 4s);
  job.print(1, "ready\n", 4s);
  CHECK(job.late(1h).empty());
}

TEST_CASE("whether any line has matched is known, with limits or without") {
  for (const char* rule : {"loss", "loss;first=5", "loss;every=5;ranks=1"}) {
    CAPTURE(rule);
    Watched job(rule);
    job.print(1, "nothing\n", 1s);
    CHECK_FALSE(job.watch.has_matched());
    job.print(1, "loss 1\n", 2s);
    CHECK(job.watch.has_matched());
    CHECK(job.late(4s).empty());
  }
}

TEST_CASE("lines come in pieces, on both streams, and end with a return too") {
  Watched job("^loss [0-9]$;first=5");
  job.print(0, "lo", 1s);
  job.print(0, "noise\n", 1s, Stream::Stderr);
  job.print(0, "ss 1", 2s);
  CHECK(job.late(5s) == "first 0-1");
  job.print(0, "\n", 3s);
  CHECK(job.late(5s) == "first 1");
  job.print(1, "10%\rloss 7\r20%", 4s, Stream::Stderr);
  CHECK(job.late(5s).empty());
}

TEST_CASE("after a match the rest of the piece is skipped, but not the line that begins in it") {
  Watched job("^loss;every=5");
  job.print(0, "loss 1\nother\nlo", 1s);
  job.print(0, "ss 2\n", 5s);
  CHECK(job.late(6s).empty());
  CHECK(job.late(10s) == "every 0");
}

TEST_CASE("of a long line the beginning is looked at, and no more is kept") {
  Watched job("end$;first=5");
  const std::string kilobyte(1024, 'x');
  for (int i = 0; i < 1000; ++i) job.print(0, kilobyte, 1s);
  job.print(0, "end\n", 1s);
  job.print(1, kilobyte + kilobyte + kilobyte + kilobyte + "end\n", 1s);
  CHECK(job.late(5s) == "first 0-1");
  job.print(0, "end\n", 1s);
  job.print(1, "xxend\n", 1s);
  CHECK(job.late(5s).empty());
}

TEST_CASE("any bytes may be in a line") {
  Watched job("loss.*[0-9]$;first=5");
  job.print(0, std::string("\xff\xfe\0 loss \xc3\x28", 12) + "\n", 1s);
  CHECK(job.late(5s) == "first 0-1");
  job.print(0, std::string("\xff\xfe\0 ", 4) + "loss 1\n", 1s);
  CHECK(job.late(5s) == "first 1");
}

TEST_CASE("who has ended or is not meant is not watched") {
  Watched ended("x;first=5");
  ended.watch.ended(Rank(1));
  CHECK(ended.late(5s) == "first 0");
  Watched named("x;first=5;ranks=1");
  CHECK(named.late(5s) == "first 1");
}

TEST_CASE("an expression that takes others for ever is quick") {
  Watched job("(a*)*b;first=5");
  job.print(0, std::string(4000, 'a') + "\n", 1s);
  CHECK(job.late(5s) == "first 0-1");
}

TEST_CASE("a job that --watch ended exits with 123, and says who and what") {
  AttemptFacts facts;
  facts.started = kStart;
  NoProgress what{RankSet(), Limit::Every, 5min, "loss=\x1b"};
  what.ranks.add(3);
  facts.stalled = AttemptFacts::Stalled{what, "rank 3 on algo-2", kStart + 10s};
  JobOutcome verdict = judge(facts);
  CHECK(verdict.exit_code == 123);
  CHECK(verdict.lines == std::vector<std::string>{"stopped: rank 3 on algo-2 has printed no line that matches "
                                                  "\"loss=\\x1b\" for 5 min (--watch)"});
  const auto json = nlohmann::json::parse(report_json({.job_id = "j", .now = kStart, .ranks = {}}, facts, verdict));
  CHECK(json["no_progress"] ==
        nlohmann::json{{"ranks", {3}}, {"pattern", "loss=\x1b"}, {"limit", "every"}, {"limit_s", 300.0}});
  CHECK(json["exit_code"] == 123);

  what.limit = Limit::First;
  what.ranks.add(4);
  facts.stalled = AttemptFacts::Stalled{what, "ranks 3-4 on algo-2", kStart + 10s};
  CHECK(judge(facts).lines.front() ==
        "stopped: ranks 3-4 on algo-2 have printed no line that matches \"loss=\\x1b\" in the first 5 min (--watch)");
}

TEST_CASE("a job that --on-silent ended exits with 123, too") {
  AttemptFacts facts;
  facts.started = kStart;
  NoProgress what{.ranks = {}, .limit = Limit::Silence, .timeout = 5min};
  what.ranks.add(3);
  facts.stalled = AttemptFacts::Stalled{what, "rank 3 on algo-2", kStart + 10s};
  const JobOutcome verdict = judge(facts);
  CHECK(verdict.exit_code == 123);
  CHECK(verdict.lines == std::vector<std::string>{"stopped: rank 3 on algo-2 has printed nothing for 5 min, while "
                                                  "others have (--on-silent)"});
  const auto json = nlohmann::json::parse(report_json({.job_id = "j", .now = kStart, .ranks = {}}, facts, verdict));
  CHECK(json["no_progress"] ==
        nlohmann::json{{"ranks", {3}}, {"pattern", nullptr}, {"limit", "silence"}, {"limit_s", 300.0}});

  what.limit = Limit::SilenceOfAll;
  facts.stalled->what = what;
  CHECK(judge(facts).lines.front() == "stopped: no rank has printed anything for 5 min (--on-silent)");
}

TEST_CASE("--watch decides when it was first, whatever the user does then") {
  AttemptFacts facts;
  facts.started = kStart;
  NoProgress what{RankSet(), Limit::Every, 5min, "x"};
  what.ranks.add(0);
  facts.stalled = AttemptFacts::Stalled{what, "rank 0 on a", kStart + 10s};
  facts.stop_signal = 2;
  facts.stop_at = kStart + 11s;
  CHECK(judge(facts).exit_code == 123);
  facts.stop_at = kStart + 9s;
  CHECK(judge(facts).exit_code == 130);
  facts.stop_signal.reset();
  facts.ends.push_back({.rank = Rank(0),
                        .host = "a",
                        .status = Exited{7},
                        .at = kStart + 9s,
                        .error = {},
                        .last_lines = {},
                        .out_of_memory = {}});
  CHECK(judge(facts).exit_code == 7);
  facts.ends.front().at = kStart + 11s;
  CHECK(judge(facts).exit_code == 123);
}

TEST_CASE("a match has the number that the first group matches") {
  Watched job("step (\\d+)");
  const auto step = [&](std::string_view bytes) {
    const auto match = job.watch.add(Rank(0), Stream::Stdout, bytes, kStart);
    return !match ? "none" : match->step ? std::to_string(*match->step) : "no number";
  };
  CHECK(step("step 7\n") == "7");
  CHECK(step("step 8\nloss 1\nstep 10\nstep") == "10");
  CHECK(step(" 11\n") == "11");
  CHECK(step("loss 2\n") == "none");
  CHECK(step("step 99999999999999999999999\n") == "no number");
  Watched other("step");
  CHECK_FALSE(other.watch.add(Rank(0), Stream::Stdout, "step 7\n", kStart)->step);
  Watched choice("step(?:=(\\d+))?");
  CHECK_FALSE(choice.watch.add(Rank(0), Stream::Stdout, "step\n", kStart)->step);
}

TEST_CASE("matches are found when no limit is left") {
  Watched job("x;first=1s");
  CHECK(job.watch.add(Rank(0), Stream::Stdout, "x\n", kStart));
  CHECK(job.watch.add(Rank(0), Stream::Stdout, "x\n", kStart));
  job.watch.ended(Rank(0));
  CHECK_FALSE(job.watch.add(Rank(0), Stream::Stdout, "x\n", kStart));
}

TEST_CASE("a second group matches the number of all steps") {
  Watched job("step (\\d+)(?:/(\\S+))?");
  const auto total = [&](std::string_view bytes) {
    const auto match = job.watch.add(Rank(0), Stream::Stdout, bytes, kStart);
    return match && match->total ? std::to_string(*match->total) : "unknown";
  };
  CHECK(total("step 7/100\n") == "100");
  CHECK(total("step 7\n") == "unknown");
  CHECK(total("step 7/many\n") == "unknown");
  Watched choice("(?:step (\\d+))?/(\\d+)");
  CHECK_FALSE(choice.watch.add(Rank(0), Stream::Stdout, "/100\n", kStart)->total);  // of no step
}
