#include "launcher/run/watch/file_work.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>

#include "launcher/run/watch/hang_reports.h"
#include "launcher/run/watch/progress_file_poller.h"
#include "tests/support/catch.h"
#include "tests/support/printed_lines.h"
#include "tests/support/watchdog.h"

using namespace sml;
using namespace sml::run;
using Lines = std::vector<std::string>;

namespace {

struct Folder {
  Folder() { REQUIRE(::mkdtemp(path.data()) != nullptr); }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path = "/tmp/sml-file-work-XXXXXX";
};

// A file system that stalls until this is destroyed.
struct Stall {
  ~Stall() { promise.set_value(); }
  std::promise<void> promise;
  std::shared_future<void> over = promise.get_future().share();
};

// Stops the loop with each line, as a stop that insists does.
struct StoppingPrinter final : fake::PrintedLines {
  explicit StoppingPrinter(boost::asio::io_context& of) : loop(of) {}
  void print(std::string_view text) override {
    fake::PrintedLines::print(text);
    loop.stop();
  }
  boost::asio::io_context& loop;
};

// A job of one host, which answers at once.
struct Job final : WatchedJob {
  const plan::LaunchPlan& plan() const override { return planned; }
  bool workers_run() const override { return true; }
  void look_for_workers(TraceTools, attempt::StackQuery::Done done) override {
    report::RankTrace trace{Rank(0), "algo-1", {}, {}};
    trace.process.pid = 100;
    done({{trace}, {}});
  }
  void fetch_records(attempt::RecordQuery::Done done) override { done({{Rank(0), "recorded"}}); }
  void stop_for(const std::string&) override {}

  plan::LaunchPlan planned;
};

}  // namespace

TEST_CASE("file work: an error is printed with the option, and the end waits for all") {
  boost::asio::io_context loop;
  fake::PrintedLines printed;
  FileWork files(loop, printed);
  files.write("--report", [] { return Result<void>(); });
  files.write("--trace", [] { return Error(ErrorKind::Io, "cannot write trace.json: no space left on device"); });
  bool is_done = false;
  files.begin(
      "--hang-report", [] {}, [&is_done] { is_done = true; });
  CHECK_FALSE(is_done);
  files.finish();
  CHECK(is_done);
  CHECK(printed.lines == Lines{"--trace: cannot write trace.json: no space left on device"});
}

TEST_CASE("file work: one file system that stalls holds up no other, and the end that is hurried names it") {
  boost::asio::io_context loop;
  StoppingPrinter printed(loop);
  Stall stall;
  FileWork files(loop, printed);
  bool has_come = false;
  files.begin(
      "--report", [over = stall.over] { over.wait(); }, [&has_come] { has_come = true; });
  files.write("--trace", [] { return Error(ErrorKind::Io, "cannot write trace.json: permission denied"); });
  files.finish();
  CHECK(printed.lines == Lines{"--trace: cannot write trace.json: permission denied",
                               "--report: its file system has not taken the file; the job ends without it"});
  CHECK_FALSE(has_come);
}

TEST_CASE("hang reports: whoever waits for a report waits for no file") {
  const Folder folder;
  boost::asio::io_context loop;
  fake::PrintedLines printed;
  FileWork files(loop, printed);
  Job job;
  plan::HostList hosts;
  hosts.hosts.push_back({"algo-1", "", 1});
  job.planned.map = *plan::map_job(hosts, std::nullopt, plan::Oversubscribe::No);
  report::JobProgress progress;
  progress.on_event({Clock::now(), report::JobBegins{&job.planned, 0}});
  HangReports reports({.job = job,
                       .progress = progress,
                       .printer = printed,
                       .folder = std::make_shared<const HangFolder>(*HangFolder::open(folder.path + "/reports")),
                       .files = files});
  int ended = 0;
  reports.print("why", TraceTools::All, [&ended] { ++ended; });
  reports.print("why else", TraceTools::All, [&ended] { ++ended; });
  CHECK(ended == 2);
  const std::string refused = "--hang-report: the file system has not taken the report before; this one is not kept";
  CHECK(std::count(printed.lines.begin(), printed.lines.end(), refused) == 1);
  files.finish();
  CHECK(printed.lines.back() == "all that is known of these ranks is in " + folder.path + "/reports/1");
  for (const char* name : {"table.txt", "ranks.json", "rank.0.txt", "nccl_trace_rank_0"}) {
    CHECK(std::filesystem::file_size(folder.path + "/reports/1/" + name) > 0);
  }
}

TEST_CASE("progress file: a question is about the time since the one before") {
  const Folder folder;
  const std::string path = folder.path + "/step";
  boost::asio::io_context loop;
  std::optional<std::uint64_t> step;
  ProgressFilePoller file(loop.get_executor(), path, [&step](const report::StepNumbers& seen) { step = seen.step; });
  std::ofstream(path) << "1";
  file.begin();
  const auto ask = [&] {
    std::optional<std::optional<bool>> answer;
    file.ask([&answer](std::optional<bool> was_written) { answer = was_written; });
    const TimePoint limit = Clock::now() + fake::watchdog();
    while (!answer && loop.run_one_until(limit) > 0) continue;
    REQUIRE(answer.has_value());
    return *answer;
  };
  CHECK(ask() == false);
  std::ofstream(path) << "20/300";
  CHECK(ask() == true);
  CHECK(step == 20U);
  CHECK(ask() == false);
  std::filesystem::remove(path);
  CHECK(ask() == false);
}

TEST_CASE("progress file: without a file the answer comes at once") {
  boost::asio::io_context loop;
  ProgressFilePoller file(loop.get_executor(), "", [](const report::StepNumbers&) {});
  file.begin();
  bool is_unknown = false;
  file.ask([&is_unknown](std::optional<bool> was_written) { is_unknown = !was_written; });
  CHECK(is_unknown);
}
