#include "launcher/report/hosts/check_report.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::report;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t kGibi = std::uint64_t{1} << 30;

HostCheck good_host(std::uint32_t index, std::string name) {
  HostCheck host;
  host.index = HostIndex(index);
  host.name = std::move(name);
  host.slots = host.ranks = 2;
  host.address = "10.0.0." + std::to_string(index + 1);
  host.reaches_first = index == 0 ? Reaches::NotTried : Reaches::Yes;
  host.round_trip = 250us;
  host.clock_offset = 1ms;
  host.facts = plan::HostFacts{.system = "Debian GNU/Linux 12 (bookworm), Linux 6.1.0 x86_64",
                               .driver = "535.104.05",
                               .user = "root",
                               .cores = 64,
                               .memory = {256 * kGibi, 250 * kGibi},
                               .device = "NVIDIA GPU",
                               .devices = 8,
                               .open_files = {1024, 1048576},
                               .processes = {62841, 62841},
                               .locked_memory = {},
                               .shared_memory = {"/dev/shm", 128 * kGibi, 128 * kGibi},
                               .agent_folder = {"/root/.cache/sml-run", 100 * kGibi, 50 * kGibi},
                               .working_directory = {"/fsx", 1200 * kGibi, 900 * kGibi},
                               .programs = {"/usr/bin/python3"},
                               .mpi = {}};
  return host;
}

CheckReport report_of(std::uint32_t hosts) {
  CheckReport report{.hosts = {},
                     .world_size = 2 * hosts,
                     .host_source = "-H",
                     .master_address = "10.0.0.1",
                     .command = {"python3", "train.py"},
                     .stop_signal = std::nullopt,
                     .machines = {}};
  for (std::uint32_t i = 0; i < hosts; ++i) report.hosts.push_back(good_host(i, "algo-" + std::to_string(i + 1)));
  return report;
}

// A host that had not answered when the user stopped the check.
HostCheck unanswered_host(std::uint32_t index, std::string name, Looked looked) {
  HostCheck host;
  host.index = HostIndex(index);
  host.name = std::move(name);
  host.looked = looked;
  return host;
}

HostCheck failed_host(std::uint32_t index, std::string name, Error why) {
  HostCheck host;
  host.index = HostIndex(index);
  host.name = std::move(name);
  host.faults.push_back(std::move(why));
  return host;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

bool starts_any(const std::vector<std::string>& lines, const std::string& begin) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) { return line.starts_with(begin); });
}

}  // namespace

TEST_CASE("hosts that are fine make a table and no words") {
  const CheckReport report = report_of(2);
  CHECK(judge(report).exit_code == 0);
  CHECK(judge(report).lines.empty());
  CHECK(check_warnings(report).empty());
  CHECK(lines_of(check_table(report)) ==
        std::vector<std::string>{
            "HOST   STATE  TRIP CLOCK CORES    MEMORY GPUS FILES PROCS LOCKED       SHM     DISK      WDIR ADDRESS",
            "algo-1 ready 0.2ms  0.0s    64 250G/256G    8    1K   61K  unlim 128G/128G 50G/100G 900G/1.2T 10.0.0.1",
            "algo-2 ready 0.2ms  0.0s    64 250G/256G    8    1K   61K  unlim 128G/128G 50G/100G 900G/1.2T 10.0.0.2",
            "program: /usr/bin/python3 on algo-[1-2]"});
}

TEST_CASE("a terminal of 80 columns gets limits and space in a table of their own") {
  CheckReport report = report_of(2);
  report.hosts[1].name = "ip-10-0-13-27.eu-central-1.compute.internal";
  const std::string table = check_table(report, 80);
  for (const std::string& line : lines_of(table)) CHECK(line.size() <= 80);
  report.hosts[1].name = "algo-2";
  CHECK(lines_of(check_table(report, 80)) ==
        std::vector<std::string>{"HOST   STATE  TRIP CLOCK CORES    MEMORY GPUS ADDRESS",
                                 "algo-1 ready 0.2ms  0.0s    64 250G/256G    8 10.0.0.1",
                                 "algo-2 ready 0.2ms  0.0s    64 250G/256G    8 10.0.0.2", "",
                                 "HOST   FILES PROCS LOCKED       SHM     DISK      WDIR",
                                 "algo-1    1K   61K  unlim 128G/128G 50G/100G 900G/1.2T",
                                 "algo-2    1K   61K  unlim 128G/128G 50G/100G 900G/1.2T",
                                 "program: /usr/bin/python3 on algo-[1-2]"});
  CHECK(check_table(report, 120) == check_table(report));
}

TEST_CASE("what the hosts offer for MPI has a line of its own") {
  CheckReport report = report_of(2);
  for (HostCheck& host : report.hosts) host.mpi = {{{"pmix"}, "linked with libmpi.so.40"}};
  CHECK(check_table(report).ends_with("\nMPI: PMIx (linked with libmpi.so.40) on algo-[1-2]\n"));
  report.hosts[1].mpi = {{{}, "--mpi none"}};
  CHECK(
      check_table(report).ends_with("\nMPI: PMIx (linked with libmpi.so.40) on algo-1, none (--mpi none) on algo-2\n"));
  const auto json = nlohmann::json::parse(check_json(report));
  CHECK(json["hosts"][0]["mpi"][0]["ways"] == std::vector<std::string>{"pmix"});
  CHECK(json["hosts"][1]["mpi"][0]["why"] == "--mpi none");
}

TEST_CASE("a host that cannot be reached hides nothing of the others") {
  CheckReport report = report_of(4);
  report.hosts[1] = failed_host(1, "algo-2", Error(ErrorKind::Connect, "no route to host").with_hint("look there"));
  report.hosts[2] = failed_host(2, "algo-3", Error(ErrorKind::HostKey, "its host key has changed"));
  const std::vector<std::string> lines = lines_of(check_table(report));
  REQUIRE(lines.size() == 6);
  CHECK(lines[1].starts_with("algo-1 ready "));
  CHECK(lines[2].starts_with("algo-2 unreachable     -     -     -"));
  CHECK(lines[3].starts_with("algo-3 host key "));
  CHECK(lines[4].starts_with("algo-4 ready "));
  for (const std::string& line : lines) CHECK(line.size() <= 120);
  const JobOutcome verdict = judge(report);
  CHECK(verdict.exit_code == 125);
  CHECK(verdict.lines ==
        std::vector<std::string>{"algo-2: no route to host", "hint: look there", "algo-3: its host key has changed"});
}

TEST_CASE("what is wrong decides the status") {
  CheckReport report = report_of(2);
  report.hosts[1].faults.push_back(Error(ErrorKind::NotFound, "python3 is not found"));
  CHECK(judge(report).exit_code == 127);
  CHECK(lines_of(check_table(report))[2].starts_with("algo-2 no program "));
  report.hosts[0].faults.push_back(Error(ErrorKind::NotExecutable, "may not be executed"));
  CHECK(judge(report).exit_code == 126);
  report.hosts[0].faults.push_back(Error(ErrorKind::Connect, "cannot reach rank 0"));
  CHECK(judge(report).exit_code == 125);
  report.stop_signal = 2;
  CHECK(judge(report).exit_code == 130);
}

TEST_CASE("a host that does not reach rank 0 is cut off") {
  CheckReport report = report_of(2);
  report.hosts[1].reaches_first = Reaches::No;
  report.hosts[1].faults.push_back(Error(ErrorKind::Connect, "cannot reach rank 0 on algo-1"));
  CHECK(lines_of(check_table(report))[2].starts_with("algo-2 cut off "));
}

TEST_CASE("many hosts that are alike share a line, with the worst of them") {
  CheckReport report = report_of(100);
  report.hosts[50].round_trip = 12ms;
  report.hosts[51].clock_offset = -300ms;
  report.hosts[52].facts->memory.available = 3 * kGibi;
  report.hosts[70].facts->cores = 32;
  report.hosts[71] = failed_host(71, "algo-72", Error(ErrorKind::Connect, "no route to host"));
  const std::vector<std::string> lines = lines_of(check_table(report));
  REQUIRE(lines.size() == 5);
  CHECK(lines[1].starts_with("algo-[1-70,73-100] ready "));
  CHECK(lines[1].find(" 12ms -0.3s    64   3G/256G ") != std::string::npos);
  CHECK(lines[1].ends_with(" 10.0.0.[1-70,73-100]"));
  CHECK(lines[2].starts_with("algo-71 "));
  CHECK(lines[3].starts_with("algo-72 "));
}

TEST_CASE("what would hurt is told with its hosts") {
  CheckReport report = report_of(3);
  for (HostCheck& host : report.hosts) host.facts->locked_memory = {8 << 20, 8 << 20};
  report.hosts[1].facts->shared_memory = {"/dev/shm", 64 << 20, 64 << 20};
  report.hosts[2].facts->open_files = {128, 128};
  report.hosts[2].facts->working_directory.free = 1 << 20;
  report.hosts[2].facts->cores = 32;
  report.hosts[2].clock_offset = 3500ms;
  report.hosts[0].warnings.emplace_back("there are fewer cores than workers");
  const std::vector<std::string> warnings = check_warnings(report);
  CHECK(starts_any(warnings, "algo-[1-3]: locked memory is limited to 8MiB (ulimit -l)"));
  CHECK(starts_any(warnings, "algo-2: /dev/shm has 64MiB free of 64MiB, which is little for 2 workers"));
  CHECK(starts_any(warnings, "algo-3: a worker may open 128 files (ulimit -n)"));
  CHECK_FALSE(starts_any(warnings, "algo-3: at most"));
  CHECK(starts_any(warnings, "algo-3: the working directory has only 1MiB free"));
  CHECK(starts_any(warnings, "algo-1: there are fewer cores than workers"));
  CHECK(starts_any(warnings, "hosts differ in cores: 64 cores on algo-[1-2], 32 cores on algo-3"));
  CHECK(starts_any(warnings, "clocks are up to 3.5 s apart: that of algo-3 is ahead of that of algo-1"));
  report.machines = {{"algo-1", "algo-3"}};
  CHECK(warnings.size() == 7);
  CHECK(starts_any(check_warnings(report), "algo-[1,3] are one machine"));
  CHECK(judge(report).exit_code == 0);
}

TEST_CASE("hosts that agree on a wrong time are told once") {
  CheckReport report = report_of(2);
  for (HostCheck& host : report.hosts) host.clock_offset = -90s;
  CHECK(check_warnings(report) == std::vector<std::string>{"the hosts' clocks are 90.0 s behind this machine's"});
}

TEST_CASE("locked memory is of no matter on one host") {
  CheckReport report = report_of(1);
  report.hosts[0].facts->locked_memory = {8 << 20, 8 << 20};
  CHECK(check_warnings(report).empty());
}

TEST_CASE("a check as JSON") {
  CheckReport report = report_of(2);
  report.hosts[1] = failed_host(1, "b\xff", Error(ErrorKind::Auth, "refused the login").with_hint("keys"));
  const auto json = nlohmann::json::parse(check_json(report));
  CHECK(json["schema"] == 1);
  CHECK(json["would_start"] == false);
  CHECK(json["exit_code"] == 125);
  CHECK(json["verdict"][1] == "hint: keys");
  CHECK(json["master_address"] == "10.0.0.1");
  CHECK(json["world_size"] == 4);
  const auto& good = json["hosts"][0];
  CHECK(good["ready"] == true);
  CHECK(good["reaches_rank0"].is_null());
  CHECK(good["facts"]["limits"]["memlock"]["soft"].is_null());
  CHECK(good["facts"]["limits"]["nofile"]["hard"] == 1048576);
  CHECK(good["facts"]["memory"]["total"] == 256 * kGibi);
  CHECK(good["facts"]["programs"][0] == "/usr/bin/python3");
  CHECK(good["round_trip_s"] == Approx(0.00025));
  const auto& bad = json["hosts"][1];
  CHECK(bad["ready"] == false);
  CHECK(bad["faults"][0]["kind"] == "auth");
  CHECK(bad["facts"].is_null());
  CHECK(bad["address"].is_null());
}

TEST_CASE("check: a host that has not answered is never ready") {
  CheckReport report = report_of(1);
  report.stop_signal = 15;
  report.hosts.push_back(unanswered_host(1, "silent", Looked::NotCalled));
  report.hosts.push_back(unanswered_host(2, "slow", Looked::Interrupted));
  report.hosts.push_back(failed_host(3, "late", Error(ErrorKind::Timeout, "not ready after 1 s")));
  report.hosts.back().looked = Looked::NotCalled;
  const std::string table = check_table(report);
  CHECK(table.find("\nsilent not called") != std::string::npos);
  CHECK(table.find("\nslow   not checked") != std::string::npos);
  CHECK(table.find("\nlate   not called") != std::string::npos);
  const auto json = nlohmann::json::parse(check_json(report));
  CHECK(json["hosts"][0]["ready"] == true);
  CHECK(json["hosts"][1]["ready"] == false);
  CHECK(json["hosts"][2]["ready"] == false);
}
