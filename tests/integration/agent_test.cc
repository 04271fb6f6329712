// The real agent, with a launcher by hand at the other end of its pipe.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <map>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/core/exit_status.h"
#include "common/core/scratch_rule.h"
#include "tests/support/catch.h"
#include "tests/support/fake_init.h"
#include "tests/support/fake_launcher.h"
#include "tests/support/watchdog.h"

using namespace sml;
using namespace std::chrono_literals;
using fake::Init;
using fake::Launcher;

namespace {

const std::string kEcho = SML_BUILD_DIR "/tests/helpers/echo_process";

constexpr std::uint32_t kNever = 3'600'000;  // milliseconds: longer than the watchdog waits

std::uint32_t scaled_ms(std::chrono::milliseconds time) {
  return static_cast<std::uint32_t>(fake::scaled(time).count());
}

ExitStatus status_of(const std::optional<wire::ExitedWorker>& exited) {
  REQUIRE(exited.has_value());
  return wire::unpack_exit(*exited);
}

// Waits for "ready\n" of a worker.
void await_ready(Launcher& launcher, std::uint32_t rank = 0) {
  launcher.until([&] { return launcher.news(rank).out.find("ready\n") != std::string::npos; });
}

// The number that a worker printed as its first line.
pid_t await_pid(Launcher& launcher, std::uint32_t rank = 0) {
  launcher.until([&] { return launcher.news(rank).out.find('\n') != std::string::npos; });
  return std::stoi(launcher.news(rank).out);
}

bool can_connect(std::uint16_t port) {
  const os::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

TEST_CASE("agent: two workers from start to end") {
  Init init;
  Launcher launcher;
  launcher.send(Launcher::hello());
  const auto ack = launcher.await<wire::HelloAck>();
  CHECK(ack.version == wire::kProtocolVersion);
  CHECK(ack.pid == launcher.agent());
  CHECK(ack.now_ns > 0);
  for (const std::string& address : ack.addresses) CHECK_FALSE(address.starts_with("127."));
  launcher.send(Launcher::plan({{"sh", "-c", "echo out; echo err >&2; exit 3"}, {"sh", "-c", "printf 'no end'"}}));
  CHECK(launcher.await<wire::Prepared>().errors.empty());
  launcher.send(wire::Start{{"MASTER_PORT=1"}});
  const auto started = launcher.await<wire::Started>();
  CHECK(started.workers.size() == 2);
  CHECK(started.workers[0].at_ns >= ack.now_ns);
  CHECK(started.workers[1].at_ns >= started.workers[0].at_ns);
  launcher.must_leave_well();
  CHECK(launcher.news(0).out == "out\n");
  CHECK(launcher.news(0).err == "err\n");
  CHECK(launcher.news(1).out == "no end");
  CHECK(status_of(launcher.news(0).exited) == ExitStatus(Exited{3}));
  CHECK(launcher.news(0).exited->ended_by == wire::EndedBy::Itself);
  CHECK(launcher.news(0).exited->at_ns >= ack.now_ns);
  CHECK(status_of(launcher.news(1).exited) == ExitStatus(Exited{0}));
  CHECK(launcher.news(0).drained == wire::DrainEnd::Eof);
  CHECK(launcher.news(1).drained == wire::DrainEnd::Eof);
  CHECK(launcher.cleared()->left.empty());
  CHECK(launcher.bye()->reason.empty());
  CHECK(init.nothing_left());
}

TEST_CASE("agent: it tells what its host is like, and where the programs are") {
  Init init;
  Launcher launcher;
  launcher.send(Launcher::hello());
  const auto ack = launcher.await<wire::HelloAck>();
  CHECK_FALSE(ack.machine.empty());
  wire::Prepare plan = Launcher::plan({{"sh"}, {}});
  plan.apps[0].working_directory = "/usr";
  launcher.send(plan);
  CHECK(launcher.await<wire::Prepared>().errors.empty());
  launcher.send(wire::Inspect{});
  const auto told = launcher.await<wire::Inspected>();
  CHECK(told.at_ns >= ack.now_ns);
  CHECK(told.unix_ns > 1'600'000'000'000'000'000);
  CHECK(told.facts.cores > 0);
  CHECK(told.facts.memory.total >= told.facts.memory.available);
  CHECK(told.facts.memory.available > 0);
  CHECK(told.facts.open_files.soft <= told.facts.open_files.hard);
  CHECK(told.facts.shared_memory.path == "/dev/shm");
  CHECK(told.facts.agent_folder.size > 0);
  CHECK(told.facts.working_directory.path == "/usr");
  REQUIRE(told.facts.programs.size() == 2);
  CHECK(told.facts.programs[0].ends_with("/sh"));
  CHECK(told.facts.programs[1].empty());
  CHECK_FALSE(told.facts.system.empty());
  CHECK_FALSE(told.facts.user.empty());

  Launcher neighbour;
  neighbour.send(Launcher::hello());
  CHECK(neighbour.await<wire::HelloAck>().machine == ack.machine);
  for (Launcher* each : {&launcher, &neighbour}) {
    each->send(wire::Stop{SIGTERM, 0});
    each->must_leave_well();
  }
  CHECK(init.nothing_left());
}

TEST_CASE("agent: without a program the directory must be there all the same") {
  Init init;
  Launcher launcher;
  launcher.send(Launcher::hello());
  launcher.await<wire::HelloAck>();
  wire::Prepare plan = Launcher::plan({{}});
  plan.apps[0].working_directory = "/nowhere";
  launcher.send(plan);
  const auto prepared = launcher.await<wire::Prepared>();
  REQUIRE(prepared.errors.size() == 1);
  CHECK(prepared.errors[0].kind == static_cast<std::uint8_t>(ErrorKind::Spawn));
  launcher.send(wire::Stop{SIGTERM, 0});
  launcher.must_leave_well();
  CHECK(init.nothing_left());
}

TEST_CASE("agent: each worker gets its own variables, and the common ones last") {
  Init init;
  Launcher launcher({"env", "-i", "PATH=/usr/bin:/bin", "LOGIN=yes", "BOTH=login"});
  wire::Prepare plan = Launcher::plan({{"sh", "-c", "echo $LOGIN $BOTH $MINE $LATE $SAME $LAST"}});
  plan.apps[0].user_environment = {"BOTH=user", "MINE=user"};
  plan.apps[0].environment = {"SAME=app", "LAST=app"};
  plan.workers[0].environment = {"MINE=rank", "LATE=rank"};
  launcher.send(Launcher::hello());
  launcher.await<wire::HelloAck>();
  launcher.send(plan);
  launcher.await<wire::Prepared>();
  launcher.send(wire::Start{.rendezvous = {"LATE=rendezvous", "LAST=rendezvous"},
                            .variables = {{.rank = Rank(0), .environment = {}}},
                            .common = {"LAST=common"}});
  launcher.must_leave_well();
  CHECK(launcher.news(0).out == "yes user rank rendezvous app common\n");
}

TEST_CASE("agent: a protocol that it does not speak is answered in words") {
  Init init;
  Launcher launcher;
  wire::Hello hello = Launcher::hello();
  hello.version = 99;
  launcher.send(hello);
  launcher.must_leave_well();
  CHECK(launcher.bye()->reason ==
        "this agent uses protocol " + std::to_string(wire::kProtocolVersion) + ", the launcher 99");
}

TEST_CASE("agent: nobody is obeyed before Hello") {
  Init init;
  Launcher launcher;
  launcher.send(Launcher::plan({{"sh", "-c", "echo never"}}));
  launcher.send(wire::Start{});
  launcher.send(wire::Ping{1});
  launcher.send(Launcher::hello());
  const auto first = launcher.next();
  REQUIRE(first.has_value());
  CHECK(std::holds_alternative<wire::HelloAck>(*first));
  launcher.round_trip();
  CHECK(fake::children_of(launcher.agent()).empty());
  launcher.hang_up();
  CHECK(launcher.leaves());
}

TEST_CASE("agent: what comes out of turn is ignored, and told to those who debug") {
  Init init;
  Launcher launcher;
  launcher.send(Launcher::hello());
  launcher.send(wire::Start{});
  CHECK(launcher.await<wire::AgentLog>().text == "its agent ignored a start while idle");
  launcher.send(Launcher::plan({{"sh", "-c", "echo first"}}));
  launcher.await<wire::Prepared>();
  launcher.send(Launcher::plan({{"sh", "-c", "echo second"}}));
  const auto told = launcher.await<wire::AgentLog>();
  CHECK(told.level == wire::LogLevel::Debug);
  CHECK(told.text == "its agent ignored a prepare while prepared");
  launcher.send(wire::Start{});
  launcher.must_leave_well();
  CHECK(launcher.news(0).out == "first\n");
}

TEST_CASE("agent: what is asked together with a plan is answered after Prepared, and knows the programs") {
  Init init;
  Launcher launcher;
  launcher.send(Launcher::hello());
  launcher.send(Launcher::plan({{"sh", "-c", "echo first"}}));
  launcher.send(wire::Inspect{});
  bool prepared = false;
  bool inspected = false;
  while (auto message = launcher.next()) {
    prepared = prepared || std::holds_alternative<wire::Prepared>(*message);
    if (const auto* answer = std::get_if<wire::Inspected>(&*message)) {
      inspected = true;
      CHECK(prepared);
      CHECK(answer->facts.programs.size() == 1);
      break;
    }
  }
  CHECK(inspected);
  launcher.must_leave_well();
}

TEST_CASE("agent: one attempt after the other, each with all of its own") {
  Init init;
  fake::ScratchFolder folder;
  Launcher launcher({"env", "TMPDIR=" + folder.path()});
  launcher.send(Launcher::hello());
  std::uint16_t before = 0;
  for (std::uint32_t attempt = 1; attempt <= 3; ++attempt) {
    CAPTURE(attempt);
    wire::Prepare plan = Launcher::plan({{"sh", "-c", "echo $MASTER_PORT; exec sleep 1000"}, {kEcho, "daemon"}});
    plan.attempt = attempt;
    plan.services = {{wire::ServiceKind::TorchStore, wire::ServiceReach::Network},
                     {wire::ServiceKind::HorovodStore, wire::ServiceReach::Network},
                     {wire::ServiceKind::WorkerPort, wire::ServiceReach::Network}};
    for (wire::Worker& worker : plan.workers) worker.rank = Rank(worker.rank.value() + attempt * 10);
    launcher.send(plan);
    const auto prepared = launcher.await<wire::Prepared>();
    CHECK(prepared.errors.empty());
    REQUIRE(prepared.services.size() == 3);
    const std::uint16_t port = wire::port_of(prepared, wire::ServiceKind::TorchStore);
    CHECK(port != 0);
    const auto is_before = [&](const wire::Service& service) { return service.port == before; };
    if (std::none_of(prepared.services.begin(), prepared.services.end(), is_before)) {
      CHECK_FALSE(can_connect(before));  // the store of the attempt before has gone
    }
    wire::Start start{.rendezvous = {"MASTER_PORT=" + std::to_string(port)}};
    start.stores = {.torch = plan::TorchStore::OfAgent, .world_size = 2, .hosts = {}};
    launcher.send(start);
    CHECK(launcher.await<wire::Started>().workers.size() == 2);
    const std::uint32_t first = attempt * 10;
    launcher.until([&] { return launcher.news(first).out == std::to_string(port) + "\n"; });
    const pid_t daemon = await_pid(launcher, first + 1);
    CHECK(can_connect(port));
    launcher.send(wire::Stop{SIGTERM, 1000});
    const auto cleared = launcher.await<wire::Cleared>();
    CHECK(cleared.attempt == attempt);
    CHECK(cleared.left.empty());
    CHECK(launcher.news(first).drained.has_value());
    CHECK_FALSE(fake::runs(daemon));
    CHECK(can_connect(port));  // for other hosts
    before = port;
  }
  launcher.must_leave_well();
  CHECK(init.nothing_left());
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("agent: what one attempt has left in its folder is not taken for the next one's") {
  Init init;
  fake::ScratchFolder folder;
  Launcher launcher({"env", "TMPDIR=" + folder.path()});
  launcher.send(Launcher::hello());
  launcher.send(Launcher::plan({{"sh", "-c", "echo no error > $TORCHELASTIC_ERROR_FILE"}}));
  launcher.await<wire::Prepared>();
  launcher.send(wire::Start{});
  launcher.await<wire::Cleared>();
  wire::Prepare plan = Launcher::plan({{"false"}});
  plan.attempt = 2;
  launcher.forget();
  launcher.send(plan);
  launcher.await<wire::Prepared>();
  launcher.send(wire::Start{});
  launcher.send(wire::Leave{});
  while (auto message = launcher.next()) CHECK_FALSE(std::holds_alternative<wire::ErrorFile>(*message));
  CHECK(status_of(launcher.news(0).exited) == ExitStatus(Exited{1}));
  CHECK(launcher.cleared()->attempt == 2);
  launcher.must_leave_well();
}

TEST_CASE("agent: a folder that is to be kept stays, also when the agent is killed and another starts") {
  Init init;
  const bool killed = GENERATE(false, true);
  fake::ScratchFolder folder;
  Launcher launcher({"env", "TMPDIR=" + folder.path()});
  wire::Hello hello = Launcher::hello();
  hello.scratch = ScratchRule::Kept;
  launcher.send(hello);
  const std::string kept = launcher.await<wire::HelloAck>().scratch;
  CHECK(launcher.await<wire::AgentLog>().text.ends_with(kept));
  launcher.send(Launcher::plan({{"sh", "-c", "echo here > ${TORCHELASTIC_ERROR_FILE%/*}/left"}}));
  launcher.send(wire::Start{});
  launcher.await<wire::Cleared>();
  if (killed) ::kill(launcher.agent(), SIGKILL);
  if (killed) CHECK(launcher.leaves());
  if (!killed) launcher.must_leave_well();
  Launcher next({"env", "TMPDIR=" + folder.path()});
  next.send(Launcher::hello());
  next.must_leave_well();
  CHECK(std::filesystem::exists(kept + "/left"));
}

TEST_CASE("agent: nonsense on its pipe ends it") {
  Init init;
  Launcher launcher;
  launcher.start({{kEcho, "stubborn"}}, [] {
    wire::Hello hello = Launcher::hello();
    hello.grace_ms = 50;
    return hello;
  }());
  REQUIRE(os::write_all(launcher.socket(), "GET / HTTP/1.1\r\n\r\n"));
  CHECK(launcher.leaves());
  CHECK(init.nothing_left());
}

TEST_CASE("agent: what cannot run is told before anything is started") {
  Init init;
  Launcher launcher;
  wire::Prepare plan = Launcher::plan({{"no-such-program"}, {"/etc/passwd"}, {"true"}, {"true"}});
  plan.apps[2].working_directory = "/nonexistent/directory";
  launcher.send(Launcher::hello());
  launcher.send(plan);
  const auto prepared = launcher.await<wire::Prepared>();
  REQUIRE(prepared.errors.size() == 3);
  CHECK(prepared.errors[0].kind == static_cast<std::uint8_t>(ErrorKind::NotFound));
  CHECK(prepared.errors[0].message == "there is no program no-such-program");
  CHECK(prepared.errors[1].kind == static_cast<std::uint8_t>(ErrorKind::NotExecutable));
  CHECK(prepared.errors[2].kind == static_cast<std::uint8_t>(ErrorKind::Spawn));
  CHECK(prepared.services.empty());
  CHECK(fake::children_of(launcher.agent()).empty());
  launcher.send(wire::Stop{SIGTERM, 1000});
  launcher.must_leave_well();
}

TEST_CASE("agent: a worker that cannot be started is an exit of its own; the others run") {
  Init init;
  fake::ScratchFolder folder;
  Launcher launcher;
  wire::Prepare plan = Launcher::plan({{folder.write("no-magic", "echo x\n")}, {"sh", "-c", "echo fine"}});
  launcher.send(Launcher::hello());
  launcher.send(plan);
  CHECK(launcher.await<wire::Prepared>().errors.empty());
  launcher.send(wire::Start{});
  launcher.must_leave_well();
  CHECK(status_of(launcher.news(0).exited) == ExitStatus(SpawnFailed{SpawnStep::Exec, ENOEXEC}));
  CHECK(launcher.news(0).drained.has_value());
  CHECK(launcher.news(0).pid == -1);
  CHECK(launcher.news(1).out == "fine\n");
}

// Not with sanitizers: their runtimes open pipes to learn whether memory can be read, and report errors of our code
// when that fails.
#ifndef SML_SANITIZED
TEST_CASE("agent: out of descriptors, workers fail one by one and in order of time") {
  Init init;
  const std::string limit = GENERATE("40", "41");  // one pipe less or more: it fails at another step
  Launcher launcher({"sh", "-c", "ulimit -n " + limit + "; exec \"$@\"", "sh"});
  launcher.send(Launcher::hello());
  const auto ack = launcher.await<wire::HelloAck>();
  wire::Prepare plan = Launcher::plan(std::vector<Launcher::Argv>(30, {kEcho, "stubborn"}));
  plan.workers[29].stdin_source = wire::StdinSource::Launcher;  // needs one pipe more than the others
  launcher.send(plan);
  launcher.await<wire::Prepared>();
  launcher.send(wire::Start{});
  const auto started = launcher.await<wire::Started>();
  CHECK(started.workers.size() > 2);
  CHECK(started.workers.size() < 29);
  for (const std::uint32_t rank : {28U, 29U}) {
    CAPTURE(rank);
    if (!launcher.news(rank).exited) launcher.until([&] { return launcher.news(rank).exited.has_value(); });
    CHECK(status_of(launcher.news(rank).exited) == ExitStatus(SpawnFailed{SpawnStep::Pipe, EMFILE}));
    CHECK(launcher.news(rank).exited->at_ns >= ack.now_ns);  // or it would pass for the first failure of all hosts
  }
  launcher.send(wire::Stop{SIGKILL, 0});
  launcher.must_leave_well();
  CHECK(init.nothing_left());
}
#endif

TEST_CASE("agent: output flows within the credit and not a byte beyond; all else goes on") {
  Init init;
  Launcher launcher;
  launcher.start({{kEcho, "flood"}, {kEcho, "exit", "5"}}, Launcher::hello(100));
  launcher.until([&] { return launcher.output_bytes() == 100; });
  launcher.round_trip();
  CHECK(launcher.output_bytes() == 100);
  if (!launcher.news(1).exited) launcher.until([&] { return launcher.news(1).exited.has_value(); });
  CHECK(status_of(launcher.news(1).exited) == ExitStatus(Exited{5}));
  // the worker stands in its write, and a while later still nothing has come
  const pid_t flood = launcher.news(0).pid;
  REQUIRE(fake::eventually([&] { return fake::state_of(flood) == "S"; }));
  for (int i = 0; i < 20; ++i) launcher.round_trip();
  CHECK(launcher.output_bytes() == 100);
  launcher.send(wire::Credit{70000});
  launcher.until([&] { return launcher.output_bytes() >= 70100; });
  for (int i = 0; i < 20; ++i) launcher.round_trip();
  CHECK(launcher.output_bytes() == 70100);
  CHECK((kSanitized || launcher.memory("VmHWM") < 12 << 10));
  launcher.send(wire::Stop{SIGKILL, 0});
  launcher.send(wire::Credit{Launcher::kPlenty});
  launcher.must_leave_well();
  CHECK(init.nothing_left());
}

TEST_CASE("agent: output that came before the end of a worker is never lost for want of credit") {
  Init init;
  Launcher launcher;
  launcher.start({{kEcho, "write", "60000"}}, Launcher::hello(1));
  launcher.until([&] { return launcher.news(0).exited.has_value(); });
  // longer than the quiet after which a pipe is given up
  const auto end = std::chrono::steady_clock::now() + 800ms;
  while (std::chrono::steady_clock::now() < end) launcher.next(50ms);
  CHECK_FALSE(launcher.news(0).drained.has_value());
  CHECK(launcher.output_bytes() == 1);
  launcher.send(wire::Credit{Launcher::kPlenty});
  launcher.must_leave_well();
  CHECK(launcher.news(0).out.size() == 60000);
  CHECK(launcher.news(0).drained == wire::DrainEnd::Eof);
}

TEST_CASE("agent: a launcher that does not read costs no memory") {
  Init init;
  Launcher launcher;
  launcher.start({{kEcho, "flood"}, {kEcho, "flood"}, {kEcho, "flood"}});
  // until nobody moves any more: the socket is full, the queue is full, the pipes are full
  const auto written = [&] {
    std::string all;
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      all += fake::read_file("/proc/" + std::to_string(launcher.news(rank).pid) + "/io");
    }
    return all;
  };
  std::string before;
  REQUIRE(fake::eventually([&] {
    const std::string now = written();
    ::poll(nullptr, 0, 100);
    return std::exchange(before, now) == now;
  }));
  CHECK((kSanitized || launcher.memory("VmHWM") < 16 << 10));
  launcher.hang_up();
  CHECK(launcher.leaves());
  CHECK(init.nothing_left());
}

TEST_CASE("agent: a flood of one worker leaves the others their share") {
  Init init;
  Launcher launcher;
  launcher.start({{kEcho, "flood"}, {"sh", "-c", "for i in 1 2 3 4 5; do echo $i; done"}, {kEcho, "flood"}},
                 Launcher::hello(4096));
  std::uint64_t granted = 4096;
  launcher.until([&] {
    if (launcher.output_bytes() == granted) {
      granted += 4096;
      launcher.send(wire::Credit{4096});
    }
    REQUIRE(granted < std::uint64_t{64} << 20);
    return launcher.news(1).drained.has_value();
  });
  CHECK(launcher.news(1).out == "1\n2\n3\n4\n5\n");
  launcher.hang_up();
  CHECK(launcher.leaves());
  CHECK(init.nothing_left());
}

TEST_CASE("agent: a stop is TERM, and KILL after the grace") {
  Init init;
  Launcher launcher;
  wire::Hello hello = Launcher::hello();
  hello.grace_ms = kNever;
  launcher.start({{kEcho, "stubborn"}, {"sleep", "1000"}}, hello);
  await_ready(launcher);
  const auto begin = std::chrono::steady_clock::now();
  launcher.send(wire::Stop{SIGTERM, 300});
  launcher.must_leave_well();
  CHECK(std::chrono::steady_clock::now() - begin >= 300ms);
  CHECK(status_of(launcher.news(0).exited) == ExitStatus(Signaled{SIGKILL, false}));
  CHECK(status_of(launcher.news(1).exited) == ExitStatus(Signaled{SIGTERM, false}));
  CHECK(launcher.news(0).exited->ended_by == wire::EndedBy::Us);
  CHECK(launcher.news(1).exited->ended_by == wire::EndedBy::Us);
  CHECK(launcher.news(1).exited->at_ns < launcher.news(0).exited->at_ns);
  CHECK(init.nothing_left());
}

TEST_CASE("agent: the signal of a stop is the one that was asked for") {
  Init init;
  Launcher launcher;
  launcher.start({{"sh", "-c", "trap 'exit 42' INT; echo ready; while :; do sleep 0.01; done"}});
  await_ready(launcher);
  launcher.send(wire::Stop{SIGINT, 10000});
  launcher.must_leave_well();
  CHECK(status_of(launcher.news(0).exited) == ExitStatus(Exited{42}));
  CHECK(launcher.news(0).exited->ended_by == wire::EndedBy::Us);
}

TEST_CASE("agent: whoever feeds the workers' FIFOs heeds no signal that asks these to end") {
  Init init;
  fake::ScratchFolder folder;
  REQUIRE(std::filesystem::create_directories(folder / "opt/ml/input/data"));
  const int signo = GENERATE(SIGUSR1, SIGUSR2, SIGABRT, SIGALRM, SIGPWR, SIGXCPU);
  CAPTURE(signo);
  Launcher launcher;
  wire::Prepare plan =
      Launcher::plan({{"sh", "-c", "trap '' " + std::to_string(signo) + "; echo ready; exec sleep 1000"}});
  plan.apps[0].user_environment = {"SAGEMAKER_BASE_DIR=" + folder.path()};
  plan.fifos.channels.emplace_back().name = "train";
  plan.fifos.readers = {Rank(0)};
  launcher.start_plan(plan);
  await_ready(launcher);
  pid_t feeder = -1;
  REQUIRE(fake::eventually([&] {
    for (const pid_t pid : fake::children_of(launcher.agent())) {
      if (fake::read_file("/proc/" + std::to_string(pid) + "/comm") == "sml-run-pipes\n") feeder = pid;
    }
    return feeder > 0;
  }));
  launcher.send(wire::Stop{signo, kNever});
  for (int i = 0; i < 20; ++i) launcher.round_trip();
  CHECK(fake::runs(feeder));
  launcher.send(wire::Stop{SIGKILL, 0});
  launcher.must_leave_well();
  CHECK(status_of(launcher.news(0).exited) == ExitStatus(Signaled{SIGKILL, false}));
  CHECK(init.nothing_left());
}

TEST_CASE("agent: a second stop ends the grace") {
  Init init;
  Launcher launcher;
  launcher.start({{kEcho, "stubborn"}});
  await_ready(launcher);
  launcher.send(wire::Stop{SIGTERM, kNever});
  launcher.round_trip();
  CHECK(fake::runs(launcher.news(0).pid));
  launcher.send(wire::Stop{SIGTERM, 2 * kNever});  // longer for now
  launcher.send(wire::Stop{SIGKILL, 0});
  launcher.must_leave_well();
  CHECK(status_of(launcher.news(0).exited) == ExitStatus(Signaled{SIGKILL, false}));
}

TEST_CASE("agent: a stopped worker is woken so that it can end") {
  Init init;
  Launcher launcher;
  launcher.start({{kEcho, "stopped"}});
  await_ready(launcher);
  REQUIRE(fake::eventually([&] { return fake::state_of(launcher.news(0).pid) == "T"; }));
  launcher.send(wire::Stop{SIGTERM, 60000});
  launcher.must_leave_well();
  CHECK(status_of(launcher.news(0).exited) == ExitStatus(Signaled{SIGTERM, false}));
}

TEST_CASE("agent: a stop reaches the whole group of a worker") {
  Init init;
  Launcher launcher;
  launcher.start({{"sh", "-c", "sleep 1000 & echo $!; wait"}});
  const pid_t sleeper = await_pid(launcher);
  launcher.send(wire::Stop{SIGTERM, 60000});
  launcher.must_leave_well();
  CHECK_FALSE(fake::runs(sleeper));
  CHECK(init.nothing_left());
}

TEST_CASE("agent: a stop for the worker alone leaves its children to it, and none of them behind") {
  Init init;
  Launcher launcher;
  // The child tells what it gets; the worker ends when it has looked at it.
  launcher.start({{"sh", "-c",
                   "(trap 'echo child; exit' TERM; while :; do sleep 0.01; done) & child=$!; "
                   "trap 'sleep 0.2; kill -0 $child && echo worker; exit 42' TERM; echo ready; while :; do sleep 0.01; "
                   "done"}});
  await_ready(launcher);
  launcher.send(wire::Stop{SIGTERM, 60000, SignalTarget::Worker});
  launcher.must_leave_well();
  CHECK(launcher.news(0).out.substr(0, 13) == "ready\nworker\n");
  CHECK(status_of(launcher.news(0).exited) == ExitStatus(Exited{42}));
  CHECK(init.nothing_left());
}

TEST_CASE("agent: a signal for the worker alone does not reach its children") {
  Init init;
  Launcher launcher;
  launcher.start({{"sh", "-c",
                   "(trap 'echo child' USR1; while :; do sleep 0.01; done) & "
                   "trap 'sleep 0.2; echo worker; exit 0' USR1; echo ready; while :; do sleep 0.01; done"}});
  await_ready(launcher);
  launcher.send(wire::Signal{SIGUSR1, {}, SignalTarget::Worker});
  launcher.must_leave_well();
  CHECK(launcher.news(0).out == "ready\nworker\n");
  CHECK(init.nothing_left());
}

TEST_CASE("agent: a signal is passed on and the job goes on") {
  Init init;
  Launcher launcher;
  launcher.start({{kEcho, "await_signal"}, {kEcho, "await_signal"}});
  await_ready(launcher, 0);
  await_ready(launcher, 1);
  launcher.send(wire::Signal{SIGUSR1});
  launcher.must_leave_well();
  for (const std::uint32_t rank : {0U, 1U}) {
    CHECK(launcher.news(rank).out == "ready\nusr1\n");
    CHECK(status_of(launcher.news(rank).exited) == ExitStatus(Exited{0}));
    CHECK(launcher.news(rank).exited->ended_by == wire::EndedBy::Itself);
  }
}

TEST_CASE("agent: workers that end while the program of a further one is looked for leave after the answer") {
  Init init;
  Launcher launcher;
  launcher.start({{kEcho, "await_signal"}});
  await_ready(launcher);
  wire::AddWorkers more{.first = Rank(1), .apps = {}, .workers = {}, .shape = {}, .keys = {}};
  const wire::Prepare added = Launcher::plan({{"no-such-program"}});
  more.apps = added.apps;
  more.workers = added.workers;
  more.workers[0].rank = Rank(1);
  REQUIRE(os::write_all(launcher.socket(),
                        wire::encode(wire::ToAgent(more)) + wire::encode(wire::ToAgent(wire::Signal{SIGUSR1}))));
  const auto answer = launcher.await<wire::Added>();
  CHECK_FALSE(launcher.cleared().has_value());
  CHECK(answer.first == Rank(1));
  REQUIRE(answer.errors.size() == 1);
  CHECK(answer.errors[0].message == "there is no program no-such-program");
  launcher.must_leave_well();
  CHECK(status_of(launcher.news(0).exited) == ExitStatus(Exited{0}));
  CHECK(init.nothing_left());
}

TEST_CASE("agent: a stop before the start forbids it") {
  Init init;
  Launcher launcher;
  launcher.send(Launcher::hello());
  launcher.send(Launcher::plan({{"sh", "-c", "echo never"}}));
  // in one piece: at the first of them the agent leaves
  const std::string both =
      wire::encode(wire::ToAgent(wire::Stop{SIGTERM, 1000})) + wire::encode(wire::ToAgent(wire::Start{}));
  REQUIRE(os::write_all(launcher.socket(), both));
  launcher.must_leave_well();
  CHECK(launcher.output_bytes() == 0);
  CHECK(launcher.news(0).pid == -1);
}

TEST_CASE("agent: a daemon that holds the output is not waited for, and does not survive") {
  Init init;
  Launcher launcher;
  launcher.start({{kEcho, "daemon"}});
  const pid_t daemon = await_pid(launcher);
  if (!launcher.news(0).exited) launcher.until([&] { return launcher.news(0).exited.has_value(); });
  CHECK(status_of(launcher.news(0).exited) == ExitStatus(Exited{0}));
  CHECK_FALSE(launcher.news(0).drained.has_value());  // the exit is told before the wait for the output
  CHECK(fake::runs(daemon));
  launcher.must_leave_well();
  CHECK(launcher.news(0).drained == wire::DrainEnd::Quiet);
  CHECK_FALSE(fake::runs(daemon));
  CHECK(launcher.cleared()->left.empty());
  CHECK(init.nothing_left());
}

TEST_CASE("agent: daemons that ignore TERM are killed, those that come to light by that too, and at once") {
  Init init;
  Launcher launcher;
  wire::Hello hello = Launcher::hello();
  hello.grace_ms = 100;
  // each in a session of its own, each the child of another that ignores TERM; the worker ends with its input
  wire::Prepare plan = Launcher::plan(
      {{"sh", "-c",
        "trap '' TERM; setsid sh -c 'setsid sh -c \"setsid sleep 1000 & echo ready; wait\" & wait' & read x; exit 0"}});
  plan.workers[0].stdin_source = wire::StdinSource::Launcher;
  launcher.start_plan(plan, hello);
  await_ready(launcher);
  launcher.send(wire::StdinEof{Rank(0)});
  launcher.must_leave_well();
  CHECK(launcher.cleared()->left.empty());  // who is not killed at once is left when the time for all is over
  CHECK(fake::children_of(::getpid()).empty());
}

TEST_CASE("agent: what runs away faster than it can be listed dies as well") {
  Init init;
  Launcher launcher;
  launcher.start({{kEcho, "runaway"}});
  await_ready(launcher);
  launcher.send(wire::Stop{SIGTERM, 100});
  launcher.must_leave_well();
  CHECK(init.nothing_left());
}

TEST_CASE("agent: when the launcher hangs up everything dies, daemons included") {
  Init init;
  Launcher launcher;
  wire::Hello hello = Launcher::hello();
  hello.grace_ms = 100;
  launcher.start({{kEcho, "daemons"}, {kEcho, "stubborn"}, {kEcho, "stopped"}, {"sleep", "1000"}}, hello);
  const pid_t daemon = await_pid(launcher);
  await_ready(launcher, 1);
  await_ready(launcher, 2);
  CHECK(fake::runs(daemon));
  launcher.hang_up();
  CHECK(launcher.leaves());
  CHECK_FALSE(fake::runs(daemon));
  for (std::uint32_t rank = 0; rank < 4; ++rank) CHECK_FALSE(fake::runs(launcher.news(rank).pid));
  CHECK(fake::children_of(::getpid()).empty());  // nothing came to us, the next reaper
}

TEST_CASE("agent: when the launcher hangs up before the start nothing is left either") {
  Init init;
  SECTION("before Hello") {
    Launcher launcher;
    launcher.hang_up();
    CHECK(launcher.leaves());
  }
  SECTION("after Prepare") {
    Launcher launcher;
    launcher.send(Launcher::hello());
    launcher.send(Launcher::plan({{"true"}}));
    launcher.await<wire::Prepared>();
    launcher.hang_up();
    CHECK(launcher.leaves());
  }
  SECTION("in the middle of a frame") {
    Launcher launcher;
    REQUIRE(os::write_all(launcher.socket(), wire::encode(wire::ToAgent(Launcher::hello())).substr(0, 7)));
    launcher.hang_up();
    CHECK(launcher.leaves());
  }
}

TEST_CASE("agent: a launcher that is silent for too long is lost") {
  Init init;
  Launcher launcher;
  wire::Hello hello = Launcher::hello();
  hello.heartbeat_timeout_ms = scaled_ms(1s);
  hello.grace_ms = 100;
  launcher.start({{kEcho, "stubborn"}}, hello);
  await_ready(launcher);
  CHECK(launcher.leaves());
  CHECK_FALSE(fake::runs(launcher.news(0).pid));
  CHECK(init.nothing_left());
}

TEST_CASE("agent: a launcher that speaks is not") {
  Init init;
  Launcher launcher;
  wire::Hello hello = Launcher::hello();
  hello.heartbeat_timeout_ms = scaled_ms(600ms);
  launcher.start({{kEcho, "stubborn"}}, hello);
  const auto end = std::chrono::steady_clock::now() + fake::scaled(1200ms);
  while (std::chrono::steady_clock::now() < end) {
    launcher.round_trip();
    launcher.next(20ms);
  }
  CHECK(fake::runs(launcher.news(0).pid));
  launcher.send(wire::Stop{SIGKILL, 0});
  launcher.must_leave_well();
}

TEST_CASE("agent: when the agent is killed its workers die, and what they had started") {
  Init init;
  Launcher launcher;
  launcher.start(
      {{kEcho, "stubborn"}, {kEcho, "stopped"}, {kEcho, "daemons"}, {"sh", "-c", "sleep 1000 & echo $!; wait"}});
  await_ready(launcher, 0);
  await_ready(launcher, 1);
  const pid_t daemon = await_pid(launcher, 2);
  const pid_t sleeper = await_pid(launcher, 3);
  CHECK(fake::runs(daemon));
  ::kill(launcher.agent(), SIGKILL);
  while (launcher.next()) {
  }
  CHECK_FALSE(launcher.bye().has_value());
  CHECK(launcher.leaves());
  CHECK_FALSE(fake::runs(daemon));
  CHECK_FALSE(fake::runs(sleeper));
  CHECK(fake::children_of(::getpid()).empty());  // nothing came to us, the next reaper
}

// Of `launcher`'s agent, once it has said so.
pid_t new_guardian(Launcher& launcher) {
  CHECK(launcher.await<wire::AgentLog>().text == "the guardian of its agent was killed; another guards it now");
  std::vector<pid_t> guardians;
  REQUIRE(fake::eventually([&] {  // it takes its name after it was forked
    guardians = fake::children_of(launcher.agent());
    std::erase_if(guardians, [](pid_t pid) {
      return fake::read_file("/proc/" + std::to_string(pid) + "/comm") != "sml-run-guard\n";
    });
    return guardians.size() == 1;
  }));
  return guardians[0];
}

TEST_CASE("agent: when its guardian is killed the workers go on, and another guards it") {
  Init init;
  Launcher launcher;
  launcher.start({{kEcho, "daemons"}, {kEcho, "stubborn"}});
  const pid_t daemon = await_pid(launcher, 0);
  await_ready(launcher, 1);
  const std::string group = fake::cgroup_folder(launcher.agent());
  const bool is_its_own = group != fake::cgroup_folder(::getpid());
  ::kill(launcher.pid(), SIGKILL);
  const pid_t second = new_guardian(launcher);
  ::kill(second, SIGKILL);
  const pid_t third = new_guardian(launcher);
  CHECK(third != second);
  launcher.round_trip();
  CHECK(fake::runs(daemon));
  CHECK(fake::runs(launcher.news(1).pid));

  ::kill(launcher.agent(), SIGKILL);
  CHECK(fake::eventually([&] { return !fake::runs(third); }));
  CHECK_FALSE(fake::runs(daemon));
  CHECK(init.nothing_left());
  if (is_its_own) CHECK(::access(group.c_str(), F_OK) != 0);
}

TEST_CASE("agent: after its guardian was killed all ends as ever, and the new one with it") {
  Init init;
  Launcher launcher;
  launcher.start({{"sh", "-c", "echo ready; exec sleep 1000"}});
  await_ready(launcher);
  const std::string group = fake::cgroup_folder(launcher.agent());
  const bool is_its_own = group != fake::cgroup_folder(::getpid());
  ::kill(launcher.pid(), SIGKILL);
  const pid_t guardian = new_guardian(launcher);
  launcher.send(wire::Suspend{});
  REQUIRE(fake::eventually([&] { return fake::state_of(launcher.news(0).pid) == "T"; }));
  CHECK(fake::state_of(guardian) != "T");
  launcher.send(wire::Resume{});
  launcher.send(wire::Signal{SIGUSR2});
  while (launcher.next()) {
  }
  CHECK(launcher.bye().has_value());
  CHECK(status_of(launcher.news(0).exited) == ExitStatus(Signaled{SIGUSR2, false}));
  CHECK(init.nothing_left());
  CHECK_FALSE(fake::runs(guardian));
  if (is_its_own) CHECK(::access(group.c_str(), F_OK) != 0);
}

TEST_CASE("agent: the end of a pipe that ends with a killed guardian is not the launcher's") {
  Init init;
  Launcher launcher;
  wire::Hello hello = Launcher::hello();
  hello.return_secret = "secret";
  hello.hold_ms = 1;  // for any other end of the pipe
  hello.guardian_hold_ms = hello.heartbeat_timeout_ms;
  launcher.send(hello);
  const auto ack = launcher.await<wire::HelloAck>();
  REQUIRE_FALSE(ack.reconnect_socket.empty());
  launcher.send(Launcher::plan({{"sh", "-c", "echo ready; exec sleep 1000"}}));
  launcher.await<wire::Prepared>();
  launcher.send(wire::Start{});
  await_ready(launcher);
  ::kill(launcher.pid(), SIGKILL);
  new_guardian(launcher);
  launcher.hang_up();  // as sshd does then

  auto sockets = os::make_socketpair();
  REQUIRE(sockets.has_value());
  const auto helper = os::spawn_helper(
      {.argv = {SML_BUILD_DIR "/sml-run-agent", "--return", "--mark", "again", "--silence", std::to_string(kNever)},
       .stdin_fd = (*sockets)[1].get(),
       .stdout_fd = (*sockets)[1].get(),
       .stderr_fd = STDERR_FILENO});
  REQUIRE(helper.has_value());
  (*sockets)[1].reset();
  const int ours = (*sockets)[0].get();
  CHECK(fake::read_line(ours) + "\n" == wire::agent_line("again"));
  const wire::ToAgent request =
      wire::ReconnectRequest{"again", ack.reconnect_socket, ack.pid, hello.return_secret, launcher.received()};
  REQUIRE(os::write_all(ours, wire::encode(request)));
  CHECK(fake::read_line(ours).starts_with("again AGAIN "));
  CHECK(fake::runs(launcher.news(0).pid));

  (*sockets)[0].reset();  // now it may well be the launcher's
  CHECK(init.nothing_left());
}

TEST_CASE("agent: a guardian that stays stopped is replaced") {
  Init init;
  Launcher launcher;
  wire::Hello hello = Launcher::hello();
  hello.heartbeat_timeout_ms = scaled_ms(1s);
  launcher.start({{kEcho, "daemons"}}, hello);
  await_pid(launcher);
  ::kill(launcher.pid(), SIGSTOP);
  CHECK(fake::eventually([&] {  // a launcher that speaks
    launcher.send(wire::Ping{1});
    const auto message = launcher.next(100ms);
    return message && std::holds_alternative<wire::AgentLog>(*message);
  }));
  ::kill(launcher.agent(), SIGKILL);
  CHECK(init.nothing_left());
}

TEST_CASE("agent: a new guardian hands a stop on, and kills an agent that stands still") {
  Init init;
  Launcher launcher;
  wire::Hello hello = Launcher::hello();
  hello.heartbeat_timeout_ms = scaled_ms(3s);
  hello.grace_ms = 100;
  launcher.start({{kEcho, "daemons"}, {kEcho, "stubborn"}}, hello);
  await_pid(launcher, 0);
  await_ready(launcher, 1);
  ::kill(launcher.pid(), SIGKILL);
  const pid_t guardian = new_guardian(launcher);
  SECTION("a stop") {
    ::kill(guardian, SIGTERM);
    while (launcher.next()) {
    }
    REQUIRE(launcher.bye().has_value());
    CHECK(launcher.bye()->reason == "its agent was asked to end by SIGTERM");
  }
  SECTION("it stands still") {
    ::kill(launcher.agent(), SIGSTOP);
    while (launcher.next()) {
    }
    CHECK_FALSE(launcher.bye().has_value());
  }
  CHECK(init.nothing_left());
}

TEST_CASE("agent: TERM to its guardian kills what is left after the grace") {
  Init init;
  Launcher launcher;
  wire::Hello hello = Launcher::hello();
  hello.grace_ms = 100;
  launcher.start({{kEcho, "daemons"}, {kEcho, "stubborn"}}, hello);
  await_pid(launcher, 0);
  await_ready(launcher, 1);
  ::kill(launcher.pid(), SIGTERM);
  CHECK(launcher.leaves());
  CHECK(init.nothing_left());
}

TEST_CASE("agent: TERM to its guardian lets workers save, also when the agent is stopped") {
  Init init;
  Launcher launcher;
  launcher.start({{"sh", "-c", "trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep .05; done"}});
  await_ready(launcher);
  if (GENERATE(false, true)) {
    ::kill(launcher.agent(), SIGSTOP);
    REQUIRE(fake::eventually([&] { return fake::state_of(launcher.agent()) == "T"; }));
  }
  ::kill(launcher.pid(), SIGTERM);
  while (launcher.next()) {
  }
  REQUIRE(launcher.bye().has_value());
  CHECK(launcher.bye()->reason == "its agent was asked to end by SIGTERM");
  CHECK(launcher.news(0).out == "ready\nsaved\n");
  CHECK(status_of(launcher.news(0).exited) == ExitStatus(Exited{0}));
  CHECK(init.nothing_left());
}

TEST_CASE("agent: suspended, the workers stand still and the launcher's silence is no loss") {
  Init init;
  Launcher launcher;
  wire::Hello hello = Launcher::hello();
  hello.heartbeat_timeout_ms = scaled_ms(400ms);
  launcher.start({{kEcho, "flood"}}, hello);
  launcher.send(wire::Suspend{});
  const pid_t worker = launcher.news(0).pid;
  REQUIRE(fake::eventually([&] { return fake::state_of(worker) == "T"; }));
  while (launcher.next(fake::scaled(800ms))) {  // what was on its way, then twice the heartbeat of silence
  }
  CHECK(fake::state_of(worker) == "T");
  launcher.send(wire::Resume{});
  REQUIRE(fake::eventually([&] { return fake::state_of(worker) != "T"; }));
  launcher.send(wire::Stop{SIGTERM, 1000});
  launcher.must_leave_well();
  CHECK(status_of(launcher.news(0).exited) == ExitStatus(Signaled{SIGTERM, false}));
}

TEST_CASE("agent: suspended or not, a launcher that hangs up is gone") {
  Init init;
  Launcher launcher;
  launcher.start({{kEcho, "stubborn"}}, [] {
    wire::Hello hello = Launcher::hello();
    hello.grace_ms = 100;
    return hello;
  }());
  await_ready(launcher);
  launcher.send(wire::Suspend{});
  REQUIRE(fake::eventually([&] { return fake::state_of(launcher.news(0).pid) == "T"; }));
  launcher.hang_up();
  CHECK(launcher.leaves());
  CHECK(init.nothing_left());
}

TEST_CASE("agent: what a failed worker wrote into its error file comes before the news of its end") {
  Init init;
  fake::ScratchFolder folder;
  Launcher launcher({"env", "TMPDIR=" + folder.path()});
  launcher.start({{"sh", "-c", "printf '{\"message\": \"a\\377b\"}' > $TORCHELASTIC_ERROR_FILE; exit 1"},
                  {"sh", "-c", "echo fine > $TORCHELASTIC_ERROR_FILE; exit 0"},
                  {"sh", "-c", "ln -s /etc/passwd $TORCHELASTIC_ERROR_FILE; exit 1"},
                  {"sh", "-c", "head -c 1000000 /dev/zero > $TORCHELASTIC_ERROR_FILE; exit 1"}});
  std::map<std::uint32_t, std::string> files;
  while (auto message = launcher.next()) {
    if (const auto* file = std::get_if<wire::ErrorFile>(&*message)) {
      CHECK_FALSE(launcher.news(file->rank.value()).exited.has_value());
      files[file->rank.value()] = file->text;
    }
  }
  CHECK(files[0] ==
        "{\"message\": \"a\xff"
        "b\"}");
  CHECK(files.count(1) == 0);
  CHECK(files.count(2) == 0);
  CHECK(files[3].size() == wire::kMaxErrorFile);
  launcher.must_leave_well();
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("agent: somebody else's TERM ends the job, and the ends are still told") {
  Init init;
  Launcher launcher;
  launcher.start({{"sleep", "1000"}});
  ::kill(launcher.agent(), SIGTERM);
  launcher.must_leave_well();
  CHECK(status_of(launcher.news(0).exited) == ExitStatus(Signaled{SIGTERM, false}));
  CHECK_FALSE(launcher.bye()->reason.empty());  // or the launcher would take it for a job well done
  CHECK(init.nothing_left());
}

TEST_CASE("agent: standard input comes byte for byte, ends, and is paid back") {
  Init init;
  Launcher launcher;
  wire::Prepare plan = Launcher::plan({{"sh", "-c", "cat; echo end"}, {"sh", "-c", "cat; echo empty"}});
  plan.workers[0].stdin_source = wire::StdinSource::Launcher;
  launcher.start_plan(plan);
  std::string text;
  for (int i = 0; i < 20000; ++i) text.push_back(static_cast<char>(i * 7));
  for (std::size_t at = 0; at < text.size(); at += 4096) {
    launcher.send(wire::StdinData{Rank(0), text.substr(at, 4096)});
  }
  launcher.send(wire::StdinData{Rank(77), "nobody's"});
  launcher.send(wire::StdinEof{Rank(0)});  // after it the agent may leave
  launcher.must_leave_well();
  CHECK((launcher.news(0).out == text + "end\n"));
  CHECK(launcher.news(0).input_taken == text.size());
  CHECK(launcher.news(1).out == "empty\n");  // /dev/null
}

TEST_CASE("agent: a worker that does not read is not paid for, one that never will is") {
  Init init;
  Launcher launcher;
  wire::Prepare plan = Launcher::plan({{kEcho, "await_signal"}, {"sh", "-c", "exec <&-; echo ready; sleep 1000"}});
  for (wire::Worker& worker : plan.workers) worker.stdin_source = wire::StdinSource::Launcher;
  launcher.start_plan(plan);
  await_ready(launcher, 0);
  await_ready(launcher, 1);
  const std::string megabyte(std::size_t{1} << 20, 'x');
  launcher.send(wire::StdinData{Rank(0), megabyte});
  launcher.send(wire::StdinData{Rank(1), megabyte});
  launcher.until([&] { return launcher.news(1).input_taken == megabyte.size(); });
  launcher.round_trip();
  CHECK(launcher.news(0).input_taken == 0);
  launcher.send(wire::Signal{SIGUSR1});  // ends both
  launcher.must_leave_well();
  CHECK(init.nothing_left());
}

TEST_CASE("agent: input that is under way when it is released is not answered after its last word") {
  Init init;
  Launcher launcher;
  wire::Prepare plan = Launcher::plan({{"true"}});
  plan.workers[0].stdin_source = wire::StdinSource::Launcher;
  plan.services = {{wire::ServiceKind::TorchStore, wire::ServiceReach::Network}};
  launcher.send(Launcher::hello());
  launcher.send(plan);
  launcher.await<wire::Prepared>();
  launcher.send(wire::Start{});
  launcher.await<wire::Cleared>();
  const std::string input = wire::encode(wire::StdinData{Rank(0), "late"});
  REQUIRE(
      os::write_all(launcher.socket(), input + wire::encode(wire::ToAgent(wire::Leave{})) + input));  // found together
  launcher.must_leave_well();
  CHECK(init.nothing_left());
}

TEST_CASE("agent: the meeting point is reachable until the start and free for rank 0 afterwards") {
  Init init;
  Launcher launcher;
  wire::Prepare plan = Launcher::plan({{kEcho, "await_signal"}});
  plan.services = {{wire::ServiceKind::TorchStore, wire::ServiceReach::Network}};
  launcher.send(Launcher::hello());
  launcher.send(plan);
  const auto prepared = launcher.await<wire::Prepared>();
  const std::uint16_t port = wire::port_of(prepared, wire::ServiceKind::TorchStore);
  REQUIRE(port != 0);
  CHECK(can_connect(port));
  launcher.send(wire::Start{});
  await_ready(launcher);
  CHECK_FALSE(can_connect(port));
  // as every server does
  const os::UniqueFd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(server.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  CHECK(::bind(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  CHECK(::listen(server.get(), 1) == 0);
  launcher.send(wire::Signal{SIGUSR1});
  launcher.must_leave_well();
}

TEST_CASE("agent: addresses are tried, and each is told what became of it") {
  Init init;
  const os::UniqueFd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::listen(server.get(), 5) == 0);  // binds a free port
  sockaddr_in address{};
  socklen_t size = sizeof address;
  REQUIRE(::getsockname(server.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  Launcher launcher;
  launcher.send(Launcher::hello());
  launcher.send(wire::Probe{{"127.0.0.1", "no number", "::1"}, ntohs(address.sin_port), 5000});
  const auto probed = launcher.await<wire::Probed>();
  REQUIRE(probed.results.size() == 3);
  CHECK(probed.results[0].address == "127.0.0.1");
  CHECK(probed.results[0].sys_errno == 0);
  CHECK(probed.results[1].sys_errno == EINVAL);
  CHECK(probed.results[2].sys_errno != 0);  // listens on IPv4 only
  launcher.send(wire::Probe{{}, 1, 5000});
  CHECK(launcher.await<wire::Probed>().results.empty());
  launcher.hang_up();
  CHECK(launcher.leaves());
}

TEST_CASE("agent: what was tried for an attempt before is not told to the next one") {
  Init init;
  const os::UniqueFd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::listen(server.get(), 5) == 0);
  sockaddr_in address{};
  socklen_t size = sizeof address;
  REQUIRE(::getsockname(server.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  Launcher launcher;
  launcher.send(Launcher::hello());
  // in one turn of the agent's loop
  const wire::ToAgent together[] = {wire::Probe{{"127.0.0.1"}, ntohs(address.sin_port), 5000}, wire::Prepare{},
                                    wire::Probe{{"127.0.0.1", "no number"}, ntohs(address.sin_port), 5000}};
  std::string bytes;
  for (const wire::ToAgent& message : together) bytes += wire::encode(message);
  REQUIRE(os::write_all(launcher.socket(), bytes));
  CHECK(launcher.await<wire::Probed>().results.size() == 2);
  launcher.hang_up();
  CHECK(launcher.leaves());
}

TEST_CASE("agent: 256 workers") {
  Init init;
  Launcher launcher;
  launcher.start(std::vector<Launcher::Argv>(256, {kEcho, "exit", "0"}));
  launcher.must_leave_well();
  for (std::uint32_t rank = 0; rank < 256; ++rank) {
    CHECK(status_of(launcher.news(rank).exited) == ExitStatus(Exited{0}));
    CHECK(launcher.news(rank).drained == wire::DrainEnd::Eof);
  }
  CHECK(init.nothing_left());
}

TEST_CASE("agent: its own words on wrong use") {
  Init init;
  auto out = os::make_pipe();
  const auto null = os::open_dev_null();
  const auto run = [&](std::vector<std::string> argv) {
    auto pipe = os::make_pipe();
    argv.insert(argv.begin(), SML_BUILD_DIR "/sml-run-agent");
    const auto pid = os::spawn_helper(
        {.argv = argv, .stdin_fd = null->get(), .stdout_fd = pipe->write.get(), .stderr_fd = pipe->write.get()});
    REQUIRE(pid.has_value());
    pipe->write.reset();
    const std::string text = fake::read_all(pipe->read.get());
    int raw = -1;
    ::waitpid(*pid, &raw, 0);
    return std::pair(text, WEXITSTATUS(raw));
  };
  CHECK(run({"--version"}) == std::pair(std::string("sml-run-agent " SML_VERSION "\n"), 0));
  CHECK(run({}).second == 2);
  CHECK(run({}).first.starts_with("sml-run-agent: "));
}
