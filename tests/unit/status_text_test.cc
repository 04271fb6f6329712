#include "launcher/report/live/status_text.h"

#include <csignal>
#include <tuple>
#include <utility>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::report;
using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

namespace {

const TimePoint kStart = TimePoint(1000h);

// A job on hosts of two ranks each, at its beginning.
struct Told {
  explicit Told(std::initializer_list<std::string> names = {"a", "b"}) {
    plan::HostList hosts;
    for (const std::string& name : names) hosts.hosts.push_back({name, "", 2});
    plan.map = *plan::map_job(hosts, std::nullopt, plan::Oversubscribe::No);
    plan.command = {"train.py"};
    tell(JobBegins{&plan, 0}, 0s);
  }
  void tell(EventPayload what, Duration after) { progress.on_event({kStart + after, std::move(what)}); }
  void start_all(Duration after) {
    for (std::uint32_t host = 0; host < plan.map.hosts.size(); ++host) {
      tell(HostConnected{HostId(host), HostPlace::Remote, "", 1}, after);
      tell(HostReady{HostId(host)}, after);
    }
    tell(WorkersStart{"a", 1}, after);
    for (std::uint32_t rank = 0; rank < plan.map.world_size(); ++rank) {
      tell(RankStarted{Rank(rank), static_cast<int>(100 + rank)}, after);
    }
  }
  std::string line(Duration after, std::size_t columns = 200) const {
    return status_line(progress, kStart + after, columns);
  }
  plan::LaunchPlan plan;
  JobProgress progress;
};

}  // namespace

TEST_CASE("status: before the start, who is waited for") {
  Told job({"algo-1", "algo-2", "algo-3"});
  CHECK(job.line(7s) == "sml-run: 0:07 | hosts 0/3 | waiting for algo-[1-3]");
  job.tell(HostConnected{HostId(0), HostPlace::Remote, "", 1}, 1s);
  job.tell(HostConnected{HostId(1), HostPlace::Remote, "", 1}, 1s);
  job.tell(HostReady{HostId(0)}, 1s);
  job.tell(HostReady{HostId(1)}, 1s);
  job.tell(HostStep{HostId(2), "connecting"}, 1s);
  CHECK(job.line(62s) == "sml-run: 1:02 | hosts 2/3 | waiting for algo-3 (connecting)");
  job.tell(HostFailed{HostId(2), Error(ErrorKind::Connect, "connection refused")}, 63s);
  CHECK(job.line(64s) == "sml-run: 1:04 | hosts 2/3, 1 failed");
}

TEST_CASE("status: a host is the same in a plan that has it at another place") {
  Told job;
  std::swap(job.plan.map.hosts[0], job.plan.map.hosts[1]);
  job.tell(AttemptBegins{2, &job.plan}, 60s);
  job.tell(HostFailed{HostId(0), Error(ErrorKind::Lost, "lost")}, 61s);
  CHECK(job.progress.hosts()[0].name == "b");
  CHECK(job.progress.hosts()[0].state == JobProgress::HostState::Connected);
  CHECK(job.progress.hosts()[1].name == "a");
  CHECK(job.progress.hosts()[1].state == JobProgress::HostState::Failed);
}

TEST_CASE("status: a host without ranks, as one that calls may be, does not count") {
  Told job;
  job.plan.map.hosts[1].ranks.clear();
  job.progress = JobProgress();
  job.tell(JobBegins{&job.plan, 0}, 0s);
  job.tell(HostStep{HostId(1), "calling"}, 1s);
  job.tell(HostConnected{HostId(1), HostPlace::Remote, "", 1}, 1s);
  job.tell(HostReady{HostId(1)}, 1s);
  CHECK(job.line(7s) == "sml-run: 0:07 | hosts 0/1 | waiting for a");
  job.tell(HostFailed{HostId(1), Error(ErrorKind::Lost, "lost")}, 8s);
  job.tell(HostEnded{HostId(1)}, 8s);
  CHECK(job.line(9s) == "sml-run: 0:09 | hosts 0/1 | waiting for a");
}

TEST_CASE("status: ranks by what has become of them") {
  Told job;
  job.start_all(1s);
  CHECK(job.line(3s) == "sml-run: 0:03 | hosts 2/2 | ranks 4 running");
  job.tell(RankExited{Rank(0), Exited{0}, Ending::ByItself}, 4s);
  job.tell(RankExited{Rank(1), Exited{3}, Ending::ByItself}, 4s);
  job.tell(JobStopping{StopCause::WorkerFailed}, 4s);
  job.tell(RankExited{Rank(2), Signaled{SIGTERM}, Ending::Stopped}, 5s);
  CHECK(job.line(5s) == "sml-run: 0:05 | hosts 2/2 | stopping | ranks 1 running, 1 finished, 1 failed, 1 stopped");
  job.tell(HostFailed{HostId(1), Error(ErrorKind::Lost, "lost")}, 6s);
  CHECK(job.line(6s) ==
        "sml-run: 0:06 | hosts 1/2, 1 failed | stopping | ranks 1 finished, 1 failed, 1 stopped, 1 lost");
}

TEST_CASE("status: the rank that has been silent the longest, when it has been for a while") {
  Told job;
  job.start_all(1s);
  for (const std::uint32_t rank : {0U, 1U, 3U}) job.tell(RankOutput{Rank(rank), Stream::Stdout, 5}, 3s);
  CHECK(job.line(10s) == "sml-run: 0:10 | hosts 2/2 | ranks 4 running");
  CHECK(job.line(11s) == "sml-run: 0:11 | hosts 2/2 | ranks 4 running | rank 2 silent 0:10");
  CHECK(job.line(3661s + 61s).ends_with(" | rank 2 silent 1:02:01"));
  job.tell(RankExited{Rank(2), Exited{0}, Ending::ByItself}, 12s);
  CHECK(job.line(14s) == "sml-run: 0:14 | hosts 2/2 | ranks 3 running, 1 finished | rank 0 silent 0:11");
}

TEST_CASE("status: the line fits, or is not there") {
  Told job({"algo-1", "algo-2"});
  const std::string whole = job.line(0s);
  CHECK(job.line(0s, whole.size()) == whole);
  CHECK(job.line(0s, whole.size() - 1) == whole.substr(0, whole.size() - 4) + "...");
  CHECK(job.line(0s, 20) == "sml-run: 0:00 | h...");
  CHECK(job.line(0s, 19).empty());
}

TEST_CASE("status: the table has every host and rank") {
  Told job({"algo-1", "b", "c"});
  CHECK(status_table(job.progress, kStart)[0] == "status after 0:00: hosts 0/3; ranks 6 waiting");
  job.start_all(1s);
  job.tell(RankOutput{Rank(0), Stream::Stdout, 1536}, 3s);
  job.tell(RankExited{Rank(1), Exited{3}, Ending::ByItself}, 62s);
  job.tell(RankExited{Rank(3), SpawnFailed{}, Ending::ByItself}, 2s);
  job.tell(HostFailed{HostId(2), Error(ErrorKind::Lost, "lost: nothing received")}, 64s);
  CHECK(status_table(job.progress, kStart + 65s) ==
        Lines{"status after 1:05: hosts 2/3, 1 failed; ranks 2 running, 2 failed, 2 lost", "  HOST    STATE      RANKS",
              "  algo-1  ready      0-1", "  b       ready      2-3",
              "  c       failed     4-5 (lost: nothing received)",
              "    RANK  HOST        PID     OUTPUT   SILENT  STATE",
              "       0  algo-1      100    1.5 KiB     1:02  running 1:04",
              "       1  algo-1      101        0 B        -  exited with status 3 after 1:01",
              "       2  b           102        0 B     1:04  running 1:04",
              "       3  b           103        0 B        -  " + describe(SpawnFailed{}) + " after 0:01",
              "       4  c           104        0 B        -  lost with its host",
              "       5  c           105        0 B        -  lost with its host"});
}

TEST_CASE("status: lines are cut where the terminal ends") {
  CHECK(cut_lines("a long line\nshort\n", 8) == "a lon...\nshort\n");
  CHECK(cut_lines("a long line", 11) == "a long line");
  CHECK(cut_lines("\u00e9\u00e9\u00e9\u00e9\u00e9", 5) == "\u00e9\u00e9\u00e9\u00e9\u00e9");
  CHECK(cut_lines("\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9", 5) == "\u00e9\u00e9...");
  CHECK(cut_lines("", 5).empty());
}

TEST_CASE("status: times as clocks show them") {
  CHECK(clock_text(0s) == "0:00");
  CHECK(clock_text(-5s) == "0:00");
  CHECK(clock_text(59999ms) == "0:59");
  CHECK(clock_text(3599s) == "59:59");
  CHECK(clock_text(3600s) == "1:00:00");
  CHECK(clock_text(100h + 61s) == "100:01:01");
}

TEST_CASE("status: hosts on which ranks are spawned are among the others") {
  Told job({"a", "b"});
  plan::HostList hosts;
  for (const char* name : {"a", "b"}) hosts.hosts.push_back({name, "", 2});
  job.plan.map = *plan::map_job(hosts, 1, plan::Oversubscribe::No);
  job.tell(JobBegins{&job.plan, 0}, 0s);
  job.tell(HostReady{HostId(0)}, 1s);
  job.tell(RankStarted{Rank(0), 100}, 1s);
  job.plan.map.hosts[1].ranks.emplace_back(1);
  job.plan.map.ranks.push_back({Rank(1), HostIndex(1), LocalRank(0), 1, 0, 0, 1});
  job.tell(RanksAdded{&job.plan, Rank(0), Rank(1)}, 2s);
  CHECK(status_table(job.progress, kStart + 2s)[0] == "status after 0:02: hosts 1/2; ranks 1 waiting, 1 running");
  job.tell(HostConnected{HostId(1), HostPlace::Remote, "", 1}, 2s);
  job.tell(HostReady{HostId(1)}, 2s);
  job.tell(RankStarted{Rank(1), 101}, 2s);
  const Lines table = status_table(job.progress, kStart + 3s);
  CHECK(table[0] == "status after 0:03: hosts 2/2; ranks 2 running");
  CHECK(table[3] == "  b     ready      1");
  LiveUses uses;
  std::get<wire::DiskSpace>(uses.hosts["b"]) = {.free_bytes = std::uint64_t{3} << 30,
                                                .total_bytes = std::uint64_t{8} << 30};
  const Lines with_disk = status_table(job.progress, kStart + 3s, uses);
  CHECK(with_disk[2] == table[2]);
  CHECK(with_disk[3] == "  b     ready      1  disk 3.0 GiB free");
}

TEST_CASE("status: 80 columns have all accelerators of a host, as the rest of its use comes after them") {
  constexpr std::uint64_t kGibi = std::uint64_t{1} << 30;
  Told job({"algo-1"});
  HostUse use{1900 * kGibi, 2000 * kGibi, {}};
  for (const char* name : {"gpu0", "gpu1", "gpu2", "gpu3", "gpu4", "gpu5", "gpu6", "gpu7"})
    use.accelerators.push_back({.name = name, .busy_percent = 100});
  job.start_all(1s);
  job.tell(HostInUse{HostId(0), use}, 2s);
  LiveUses uses;
  std::get<wire::DiskSpace>(uses.hosts["algo-1"]) = {.free_bytes = 3 * kGibi, .total_bytes = 8 * kGibi};
  const std::string row = status_table(job.progress, kStart + 3s, uses)[2];
  CHECK(row.ends_with(", memory 1.9 TiB of 2.0 TiB, disk 3.0 GiB free"));
  std::get<wire::SharedMemory>(uses.hosts["algo-1"]) = {.free_bytes = kGibi / 2, .total_bytes = kGibi};
  const std::string row_with_memory = status_table(job.progress, kStart + 3s, uses)[2];
  CHECK(row_with_memory == row + ", /dev/shm 512.0 MiB free");
  CHECK(cut_lines(row, 80).find("  gpu[0-7] 100 100 100 100 100 100 100 100 %") != std::string::npos);
}
