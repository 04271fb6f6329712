#include "launcher/report/outcome/causes.h"

#include <nlohmann/json.hpp>

#include "launcher/report/outcome/job_outcome.h"
#include "launcher/report/outcome/job_report.h"
#include "launcher/report/outcome/report_json.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::report;
using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

namespace {

constexpr const char* kLostPeer =
    "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.0.0.3]:41520";

AttemptFacts::WorkerEnd end_of(std::uint32_t rank, ExitStatus status, Duration after, Lines said,
                               bool by_itself = true) {
  AttemptFacts::WorkerEnd end;
  end.rank = Rank(rank);
  end.host = "algo-" + std::to_string(rank + 1);
  end.status = std::move(status);
  end.by_itself = by_itself;
  end.at = TimePoint(1000h) + after;
  end.last_lines = std::move(said);
  return end;
}

AttemptFacts facts_of(std::vector<AttemptFacts::WorkerEnd> ends) {
  AttemptFacts facts;
  facts.started = TimePoint(1000h);
  facts.program = "train.py";
  facts.ends = std::move(ends);
  return facts;
}

bool has(const Lines& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

}  // namespace

TEST_CASE("known sentences name the cause, wherever they stand in the last words", "[causes]") {
  struct Row {
    std::string line;
    CauseKind kind;
    std::string words;
  };
  const Row rows[] = {
      {"[12.3] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.", CauseKind::Root,
       "an accelerator is off the bus"},
      {"kernel: NVRM: Xid (PCI:0000:3b:00): 48, pid=1", CauseKind::Root, "an accelerator is faulty"},
      {"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", CauseKind::Root,
       "an accelerator has no memory left"},
      {"OSError: [Errno 28] No space left on device", CauseKind::Root, "a disk is full"},
      {"OSError: [Errno 98] Address already in use", CauseKind::Root, "a port that it needs is taken"},
      {"RuntimeError: use_libuv was requested but PyTorch was build without libuv support", CauseKind::Root,
       "this torch is built without libuv, which -x USE_LIBUV=0 lets it do without"},
      {"ValueError: coordinator_address should be defined.", CauseKind::Root,
       "JAX does not know the address of rank 0, which --preset jax lets it find"},
      {"slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO PREEMPTION ***", CauseKind::Root,
       "the batch system took the hosts away"},
      {kLostPeer, CauseKind::Cascade, "a rank that it worked with has gone"},
      {"An MPI communication peer process has unexpectedly disconnected.  This", CauseKind::Cascade,
       "a rank that it worked with has gone"},
      {"[algo-1:00000] *** An error occurred in Socket closed", CauseKind::Cascade,
       "a rank that it worked with has gone"},
      {"[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7", CauseKind::Cascade,
       "it waited in vain for other ranks"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    const auto cause = known_cause("", {"before", row.line, "after"});
    REQUIRE(cause);
    CHECK(cause->kind == row.kind);
    CHECK(cause->words == row.words);
    CHECK(cause->evidence == row.line);
    CHECK(known_cause(row.line + "\nsecond line", {}));
  }
  CHECK_FALSE(known_cause("", {"loss 0.1", "ValueError: no such data"}));
}

TEST_CASE("who has failed by itself loses its peers too: the root outranks the cascade", "[causes]") {
  const Lines both = {"OSError: [Errno 28] No space left on device", kLostPeer};
  CHECK(known_cause("", both)->kind == CauseKind::Root);
  CHECK(known_cause(kLostPeer, both)->kind == CauseKind::Root);
}

TEST_CASE("an exception of its own is found among what surrounds it", "[causes]") {
  CHECK(own_exception({"Traceback (most recent call last):", "  raise ValueError(x)", "ValueError: no such data",
                       "bye"}) == "ValueError: no such data");
  CHECK(own_exception({"torch.distributed.DistBackendError: odd"}) == "torch.distributed.DistBackendError: odd");
  CHECK(own_exception({kLostPeer}).empty());
  CHECK(own_exception({"KeyboardInterrupt", "Error in a sentence: no", "loss: 0.3"}).empty());
}

TEST_CASE("a rank that only lost its peer does not decide when one with words of its own ends soon", "[causes]") {
  const auto peer = [](Duration after) { return end_of(0, Exited{1}, after, {kLostPeer}); };
  const auto root = [](Duration after, bool by_itself = true) {
    return end_of(1, Exited{7}, after, {"ValueError: no such data"}, by_itself);
  };
  CHECK(judge(facts_of({peer(10s), root(11s)})).exit_code == 7);
  CHECK(judge(facts_of({root(11s), peer(10s)})).exit_code == 7);
  CHECK(judge(facts_of({peer(10s), root(11001ms)})).exit_code == 1);
  CHECK(judge(facts_of({peer(10s), root(10100ms, false)})).exit_code == 1);  // we ended it: its status is ours
  CHECK(judge(facts_of({peer(10s), end_of(1, Exited{7}, 10100ms, {})})).exit_code == 1);  // it says nothing
  CHECK(judge(facts_of({peer(10s), end_of(1, Exited{7}, 10100ms, {kLostPeer})})).exit_code == 1);
  CHECK(judge(facts_of({end_of(0, Exited{3}, 10s, {kLostPeer}), root(10100ms)})).exit_code == 3);  // a chosen status
}

TEST_CASE("the report tells a cause from a consequence", "[causes]") {
  AttemptFacts facts = facts_of({end_of(2, Exited{1}, 5s, {"OSError: [Errno 28] No space left on device"}),
                                 end_of(0, Exited{1}, 6s, {kLostPeer}), end_of(1, Exited{1}, 6s, {"ValueError: odd"})});
  Lines lines = job_report(facts, judge(facts));
  CHECK(has(lines, "  known cause: a disk is full"));
  CHECK(has(lines, "  then: rank 0 on algo-1 exited with status 1: a rank that it worked with has gone"));
  CHECK(has(lines, "  then: rank 1 on algo-2 exited with status 1"));

  facts = facts_of({end_of(0, Exited{1}, 5s, {kLostPeer}),
                    end_of(1, Signaled{15, false}, 6s, {"ValueError: no \x1b[31m data"}, false)});
  lines = job_report(facts, judge(facts));
  CHECK(has(lines, "  probably a consequence: a rank that it worked with has gone"));
  CHECK(has(lines, "  rank 1 on algo-2 had printed: ValueError: no \\x1b[31m data"));

  facts.ends.pop_back();  // alone it can have lost nobody of the job
  lines = job_report(facts, judge(facts));
  CHECK_FALSE(has(lines, "  probably a consequence: a rank that it worked with has gone"));
}

TEST_CASE("a rank that asked for input in vain is told which rank has it", "[causes]") {
  const std::pair<const char*, const char*> kinds[] = {
      {"EOFError: EOF when reading a line", "it asked for input, and found none"},
      {"bdb.BdbQuit", "its debugger found no input, or was asked to quit"}};
  for (const auto& [line, words] : kinds) {
    CAPTURE(line);
    const std::string own = "  known cause: " + std::string(words);
    AttemptFacts facts = facts_of({end_of(2, Exited{1}, 5s, {line})});
    CHECK(has(job_report(facts, judge(facts)), own));
    facts.input = Rank(0);
    CHECK(has(job_report(facts, judge(facts)),
              "  known cause: it asked for input, and only rank 0 has it; --stdin 2 gives it to rank 2"));
    facts.input = Rank(2);  // whose own input has ended
    CHECK(has(job_report(facts, judge(facts)), own));
  }
}

TEST_CASE("the report for programs says why each attempt failed", "[causes]") {
  const AttemptFacts facts = facts_of({end_of(2, Exited{7}, 5s, {"OSError: [Errno 28] No space left on device"})});
  const AttemptRecord first{.number = 1, .exit_code = 7, .words = "rank 2 failed", .failure = facts.ends.front()};
  const AttemptRecord second{.number = 2, .words = "all workers exited with status 0"};
  const JobRecord job{.job_id = "j", .now = TimePoint(), .ranks = {}, .attempts = {first, second}};
  const auto json = nlohmann::json::parse(report_json(job, AttemptFacts(), JobOutcome()));
  CHECK(json["culprit"].is_null());
  CHECK(json["attempts"][0]["culprit"] == 2);
  const auto& failure = json["attempts"][0]["failure"];
  CHECK(failure["rank"] == 2);
  CHECK(failure["status"]["exit_code"] == 7);
  CHECK(failure["cause"]["words"] == "a disk is full");
  CHECK(failure["last_lines"][0] == "OSError: [Errno 28] No space left on device");
  CHECK(json["attempts"][1]["failure"].is_null());
  CHECK(nlohmann::json::parse(report_json(job, facts, judge(facts)))["culprit"] == failure);
}

TEST_CASE("the report for programs has every rank, also one whose end was not observed", "[causes]") {
  AttemptFacts::WorkerEnd running;
  running.host = "algo-2";
  running.pid = 7;
  const JobRecord job{.job_id = "j", .now = TimePoint(), .ranks = {running, end_of(1, Exited{0}, 5s, {}, false)}};
  const auto ranks = nlohmann::json::parse(report_json(job, facts_of({}), JobOutcome()))["ranks"];
  CHECK(ranks[0]["host"] == "algo-2");
  CHECK(ranks[0]["pid"] == 7);
  CHECK(ranks[0]["end_s"].is_null());
  CHECK(ranks[0]["status"].is_null());
  CHECK(ranks[0]["stopped_by"].is_null());
  CHECK(ranks[1]["rank"] == 1);
  CHECK(ranks[1]["end_s"] == 5.0);
  CHECK(ranks[1]["status"]["exit_code"] == 0);
  CHECK(ranks[1]["stopped_by"] == "sml-run");
}
