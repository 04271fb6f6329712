// Goodput against sums made by hand.
#include "launcher/report/live/goodput.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::report;
using namespace std::chrono_literals;

namespace {

const TimePoint kGoodputStart = TimePoint(1000h);

struct Worked {
  Worked() { tell(JobBegins{&plan, 0}, 0s); }
  void tell(const EventPayload& what, Duration at) { goodput.on_event({kGoodputStart + at, what}); }
  void step(std::optional<std::uint64_t> number, Duration at) { goodput.progress(number, kGoodputStart + at); }
  GoodputSums sums(Duration at) const {
    const GoodputSums out = goodput.sums(kGoodputStart + at);
    return out;
  }

  plan::LaunchPlan plan;
  Goodput goodput;
};

std::string row(const GoodputSums& s) {
  std::string out;
  for (const Duration part : {s.good, s.start, s.rendezvous, s.lost, s.teardown, s.waiting, s.open}) {
    out += (out.empty() ? "" : " ") + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(part).count());
  }
  return out;
}

// Attempt 1: starts at 5, steps 1 to 4 at 10, 20, 30, 40, fails at 45, is over at 47.
void first_attempt(Worked& job, bool numbered) {
  job.tell(WorkersStart{"a", 1}, 5s);
  for (std::uint64_t n = 1; n <= 4; ++n) job.step(numbered ? std::optional(n) : std::nullopt, n * 10s);
  job.tell(JobStopping{StopCause::WorkerFailed}, 45s);
  job.tell(AttemptFails{1, 7, "", Rank(0), 3s}, 47s);
}

}  // namespace

TEST_CASE("goodput of a job with two restarts equals the sums made by hand") {
  Worked job;
  first_attempt(job, true);
  // Attempt 2 begins at 50 with step 3, which it makes again: of attempt 1 the time from 10 to 20 counts.
  job.tell(AttemptBegins{2, &job.plan}, 50s);
  job.tell(WorkersStart{"a", 1}, 52s);
  for (std::uint64_t n = 3; n <= 7; ++n) job.step(n, 60s + (n - 3) * 10s);  // 7 at 100
  job.tell(JobStopping{StopCause::HostFailed}, 108s);
  job.tell(AttemptFails{2, 125, "", std::nullopt, 0s}, 110s);
  // Attempt 3 begins with step 7: of attempt 2 the time from 60 to 90 counts.
  job.tell(AttemptBegins{3, &job.plan}, 170s);
  job.tell(WorkersStart{"a", 1}, 171s);
  for (std::uint64_t n = 7; n <= 10; ++n) job.step(n, 180s + (n - 7) * 10s);  // 10 at 210
  job.tell(JobEnds{0, "", std::nullopt}, 214s);
  const GoodputSums sums = job.sums(1h);
  //                good           start    rendezvous  lost                  teardown   waiting  open
  //                10+30+30       5+2+1    5+8+9       (20+5)+(10+8)         2+2+4      3+60
  CHECK(row(sums) == "70 8 22 43 8 63 0");
  CHECK(sums.whole() == 214s);
  CHECK(sums.ratio() == 70.0 / 214);
  CHECK(job.goodput.step() == 10);
  CHECK(job.goodput.last_progress() == kGoodputStart + 210s);
  CHECK(
      goodput_text(sums) ==
      "goodput 32.7 % of 3:34: start 0:08, rendezvous 0:22, lost progress 0:43, teardown 0:08, waiting for hosts 1:03");
}

TEST_CASE("without step numbers only what follows the last progress is lost") {
  Worked job;
  first_attempt(job, false);
  job.tell(AttemptBegins{2, &job.plan}, 50s);
  job.tell(WorkersStart{"a", 1}, 52s);
  job.step(std::nullopt, 60s);
  job.step(std::nullopt, 70s);
  job.tell(JobEnds{0, "", std::nullopt}, 71s);
  CHECK(row(job.sums(71s)) == "40 7 13 5 3 3 0");
}

TEST_CASE("goodput while the job runs") {
  Worked job;
  CHECK(row(job.sums(3s)) == "0 3 0 0 0 0 0");
  job.tell(WorkersStart{"a", 1}, 5s);
  CHECK(row(job.sums(8s)) == "0 5 3 0 0 0 0");
  job.step(1, 10s);
  job.step(2, 20s);
  CHECK(row(job.sums(26s)) == "10 5 5 0 0 0 6");
  job.tell(JobStopping{StopCause::WorkerFailed}, 27s);
  CHECK(row(job.sums(29s)) == "10 5 5 7 2 0 0");
  job.tell(AttemptFails{1, 7, "", Rank(0), 3s}, 30s);
  CHECK(row(job.sums(34s)) == "10 5 5 7 3 4 0");
  job.tell(AttemptBegins{2, &job.plan}, 40s);
  CHECK(row(job.sums(41s)) == "10 6 5 7 3 10 0");
}

TEST_CASE("an attempt that fails before its start or its first step") {
  Worked job;
  job.tell(JobStopping{StopCause::HostFailed}, 4s);
  job.tell(AttemptFails{1, 125, "", std::nullopt, 0s}, 5s);
  job.tell(AttemptBegins{2, &job.plan}, 5s);
  job.tell(WorkersStart{"a", 1}, 6s);
  job.tell(JobEnds{3, "", std::nullopt}, 9s);
  CHECK(row(job.sums(9s)) == "0 5 3 0 1 0 0");
}

TEST_CASE("ranks that print the same step one after the other, and lines that come late") {
  Worked job;
  job.step(1, 1s);  // before the start of the workers: of nobody
  job.tell(WorkersStart{"a", 1}, 5s);
  for (const int rank : {0, 1, 2}) job.step(1, 10s + rank * 1s);
  job.step(2, 20s);
  job.step(1, 21s);
  job.tell(JobStopping{StopCause::WorkerFailed}, 22s);
  job.step(9, 23s);
  CHECK(job.goodput.step() == 2);
  CHECK(row(job.sums(23s)) == "11 5 5 1 1 0 0");
}

TEST_CASE("a job of a million steps keeps few of them, and loses what it should within a few steps") {
  Worked job;
  job.tell(WorkersStart{"a", 1}, 0s);
  for (std::uint64_t n = 1; n <= 1'000'000; ++n) job.step(n, n * 1s);
  job.tell(JobStopping{StopCause::WorkerFailed}, 1'000'000s);
  job.tell(AttemptFails{1, 7, "", Rank(0), 0s}, 1'000'000s);
  job.tell(AttemptBegins{2, &job.plan}, 1'000'000s);
  job.tell(WorkersStart{"a", 1}, 1'000'000s);
  job.step(500'001, 1'000'001s);
  const double good = in_seconds(job.sums(1'000'001s).good);
  CHECK(good <= 500'000);
  CHECK(good > 499'000);
}

TEST_CASE("what remains goes by the pace of the attempt that runs") {
  Worked job;
  const auto left = [&](Duration now) {
    const std::optional<Duration> out = job.goodput.remaining(kGoodputStart + now);
    return out ? std::to_string(std::lround(in_seconds(*out))) : "unknown";
  };
  const auto step = [&](std::uint64_t number, Duration at) { job.goodput.progress(number, kGoodputStart + at, 100); };
  job.tell(WorkersStart{"a", 1}, 5s);
  job.step(1, 10s);
  CHECK_FALSE(job.goodput.total().has_value());
  step(2, 12s);
  CHECK(job.goodput.total() == 100);
  CHECK(left(12s) == "196");  // 98 steps of 2 s
  CHECK(left(14s) == "194");
  job.tell(JobStopping{StopCause::WorkerFailed}, 20s);
  job.tell(AttemptFails{1, 7, "", Rank(0), 0s}, 20s);
  CHECK(left(20s) == "unknown");
  job.tell(AttemptBegins{2, &job.plan}, 20s);
  job.tell(WorkersStart{"a", 1}, 20s);
  step(90, 30s);
  CHECK(left(30s) == "unknown");  // one step has no pace
  step(95, 35s);
  CHECK(left(35s) == "5");
  CHECK(left(50s) == "0");
  step(100, 40s);
  CHECK(left(40s) == "0");
}
