// Whole jobs on one machine: sml-run as its users call it. Other hosts are played by a script in the place of ssh.
#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/os/fd.h"
#include "common/os/spawn.h"
#include "launcher/os/stop_rule.h"
#include "tests/support/catch.h"
#include "tests/support/fake_init.h"
#include "tests/support/watchdog.h"

using namespace sml;
using namespace std::chrono_literals;
using fake::Init;
using fake::ScratchFolder;

namespace {

const std::string kSmlRun = SML_BUILD_DIR "/sml-run";
const std::string kEcho = SML_BUILD_DIR "/tests/helpers/echo_process";
using Words = std::vector<std::string>;

// One sml-run with pipes at its three descriptors.
class Run {
 public:
  explicit Run(Words arguments, int stdout_fd = -1) {
    arguments.insert(arguments.begin(), kSmlRun);
    auto in = os::make_pipe();
    auto out = os::make_pipe();
    auto err = os::make_pipe();
    const auto pid = os::spawn_helper({.argv = std::move(arguments),
                                       .stdin_fd = in->read.get(),
                                       .stdout_fd = stdout_fd >= 0 ? stdout_fd : out->write.get(),
                                       .stderr_fd = err->write.get()});
    REQUIRE(pid.has_value());
    pid_ = *pid;
    in_ = std::move(in->write);
    out_ = std::move(out->read);
    err_ = std::move(err->read);
  }

  pid_t pid() const { return pid_; }
  void write(const std::string& bytes) { REQUIRE(os::write_all(in_.get(), bytes)); }
  void close_input() { in_.reset(); }
  void close_output() { out_.reset(); }
  std::string out_line() { return fake::read_line(out_.get()); }
  std::string err_line() { return fake::read_line(err_.get()); }
  void kill(int signo) { ::kill(pid_, signo); }

  // Waits for its end; takes both outputs meanwhile.
  struct End {
    int status = -1;
    std::string out;
    std::string err;
  };
  End end() {
    End result;
    std::pair<int, std::string*> streams[] = {{out_.get(), &result.out}, {err_.get(), &result.err}};
    for (int open = out_.get() >= 0 ? 2 : 1; open > 0;) {
      pollfd polled[2] = {{.fd = streams[0].first, .events = POLLIN, .revents = 0},
                          {.fd = streams[1].first, .events = POLLIN, .revents = 0}};
      ::poll(polled, 2, -1);
      for (int i = 0; i < 2; ++i) {
        if (polled[i].revents == 0) continue;
        char buffer[65536];
        const ssize_t n = ::read(streams[i].first, buffer, sizeof buffer);
        if (n > 0) {
          streams[i].second->append(buffer, static_cast<std::size_t>(n));
        } else {
          streams[i].first = -1;
          --open;
        }
      }
    }
    int raw = -1;
    ::waitpid(pid_, &raw, 0);
    result.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 1000 + WTERMSIG(raw);
    return result;
  }

 private:
  pid_t pid_ = -1;
  os::UniqueFd in_;
  os::UniqueFd out_;
  os::UniqueFd err_;
};

Run::End run(Words arguments) {
  arguments.insert(arguments.begin(), "--quiet");
  Run job(std::move(arguments));
  job.close_input();
  return job.end();
}

Words sorted_lines(const std::string& text) {
  Words out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The agents that a sml-run has started here: each child of its own is the guardian of one.
std::vector<pid_t> agents_of(pid_t launcher) {
  std::vector<pid_t> out;
  for (const pid_t guardian : fake::children_of(launcher)) {
    for (const pid_t agent : fake::children_of(guardian)) out.push_back(agent);
  }
  return out;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Hosts that are folders: a script that is called like ssh. Names that begin with "refused" cannot be reached.
class FakeHosts {
 public:
  FakeHosts() {
    script_ =
        folder_.write("ssh",
                      "#!/bin/sh\n"
                      "case $1 in\n"
                      "  u@refused*) echo \"ssh: connect to host $1 port 22: Connection refused\" >&2; exit 255;;\n"
                      "  u@silent*) exec sleep 1000;;\n"
                      "  u@shut*) echo 'This account is currently not available.'; exit 1;;\n"
                      "esac\n"
                      "echo \"$2\" >> " +
                          folder_ / "calls" +
                          "\n"
                          "mkdir -p " +
                          folder_ / "$1" +
                          "\n"
                          "echo noise of the login\n"
                          "exec env -i HOME=" +
                          folder_ / "$1" +
                          " PATH=/usr/bin:/bin LOGIN_OF=\"$1\" "
                          "SSH_CONNECTION='127.0.0.1 1 127.0.0.1 22' sh -c \"$2\"\n");
  }
  // -H u@NAME,... with this script; the rest is the caller's.
  Words arguments(const std::string& hosts, const Words& more) const {
    Words out = {"--ssh-command", script_, "-H", hosts};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }
  const ScratchFolder& folder() const { return folder_; }

 private:
  ScratchFolder folder_;
  std::string script_;
};

}  // namespace

TEST_CASE("job: one worker's bytes pass as they are, on either stream") {
  Init init;
  const auto end = run({"sh", "-c", "printf 'out \\377 no end'; printf 'err' >&2"});
  CHECK(end.status == 0);
  CHECK(end.out == "out \xff no end");
  CHECK(end.err == "err");
  CHECK(init.nothing_left());
}

TEST_CASE("check: this machine, with a program and without, and nothing is started") {
  Init init;
  const auto end = run({"--check", "-np", "2", "sh", "-c", "echo started"});
  CHECK(end.status == 0);
  CHECK(has(end.out, "\nlocalhost ready "));
  CHECK(has(end.out, "/sh on localhost\n"));
  CHECK_FALSE(has(end.out, "started"));
  CHECK(end.err.empty());
  CHECK(run({"--check"}).status == 0);
  const auto missing = run({"--check", "/nowhere/program"});
  CHECK(missing.status == 127);
  CHECK(has(missing.out, "\nlocalhost no program "));
  CHECK(run({"--check", "/etc/passwd"}).status == 126);
  CHECK(init.nothing_left());
}

TEST_CASE("check: a host that cannot be reached hides none, and a stop ends it") {
  Init init;
  const FakeHosts hosts;
  const auto end = run(hosts.arguments("u@a,u@refused1,u@b,u@shut", {"--check", "--format", "json", "true"}));
  CHECK(end.status == 125);
  CHECK(has(end.out, R"("name":"a","slots":1,"ranks":1,"ready":true)"));
  CHECK(has(end.out, R"("name":"refused1","slots":1,"ranks":1,"ready":false)"));
  CHECK(has(end.out, R"("name":"b","slots":1,"ranks":1,"ready":true)"));
  CHECK(has(end.err, "sml-run: refused1: "));
  CHECK(has(end.err, "sml-run: shut: "));

  const auto late =
      run(hosts.arguments("u@a,u@silent", {"--check", "--start-timeout", fake::scaled_option(2s), "true"}));
  CHECK(late.status == 125);
  CHECK(has(late.out, "\nsilent no answer "));
  CHECK(has(late.out, "\na      ready "));

  Run stopped(hosts.arguments("u@c,u@silent", {"--check", "true"}));
  REQUIRE(fake::eventually([&] {
    struct stat info {};
    return ::stat((hosts.folder() / "u@c").c_str(), &info) == 0;
  }));
  stopped.kill(SIGINT);
  CHECK(stopped.end().status == 130);
  CHECK(init.nothing_left());
}

TEST_CASE("job: several workers, tagged lines, ranks in the environment") {
  Init init;
  const auto end =
      run({"-np", "4", "sh", "-c", "echo rank $RANK of $WORLD_SIZE, local $LOCAL_RANK; echo err $RANK >&2"});
  CHECK(end.status == 0);
  CHECK(sorted_lines(end.out) == Words{"[0] rank 0 of 4, local 0", "[1] rank 1 of 4, local 1",
                                       "[2] rank 2 of 4, local 2", "[3] rank 3 of 4, local 3"});
  CHECK(sorted_lines(end.err) == Words{"[0] err 0", "[1] err 1", "[2] err 2", "[3] err 3"});
  CHECK(init.nothing_left());
}

TEST_CASE("job: arguments arrive byte for byte") {
  Init init;
  const Words odd = {"", "a b", "'\"`\\", "$HOME", "*", "a\nb", "\xff", "--help", "-np"};
  Words arguments = {kEcho, "report"};
  arguments.insert(arguments.end(), odd.begin(), odd.end());
  const auto end = run(arguments);
  CHECK(end.status == 0);
  Words got;
  for (std::size_t at = 0; at < end.out.size();) {
    const std::string entry = end.out.c_str() + at;
    at += entry.size() + 1;
    if (entry.starts_with("arg=")) got.push_back(entry.substr(4));
  }
  REQUIRE(got.size() == odd.size() + 2);
  CHECK(Words(got.begin() + 2, got.end()) == odd);
}

TEST_CASE("job: the status is that of the worker that failed first by itself") {
  Init init;
  struct Row {
    const char* script;
    int status;
  };
  const Row rows[] = {
      {"exit 0", 0},
      {"exit 3", 3},
      {"exit 255", 255},
      {"kill -SEGV $$", 139},
      {"kill -KILL $$", 137},
      {"test $RANK != 2 || exit 7; exec sleep 1000", 7},
      {"test $RANK != 2 || kill -ABRT $$; exec sleep 1000", 134},
      {"trap 'exit 9' TERM; echo; test $RANK != 2 || exit 7; while :; do sleep 0.01; done", 7},
  };
  for (const Row& row : rows) {
    CAPTURE(row.script);
    const auto end = run({"-np", "4", "sh", "-c", row.script});
    CHECK(end.status == row.status);
    CHECK(init.nothing_left());
  }
}

TEST_CASE("job: the failure is told in one line that names rank, host and end") {
  Init init;
  Run job({"-np", "2", "-H", "localhost:2", "sh", "-c", "test $RANK != 1 || exit 7; exec sleep 1000"});
  const auto end = job.end();
  CHECK(end.status == 7);
  CHECK(has(end.err, "sml-run: rank 1 on localhost exited with status 7 after "));
  CHECK(init.nothing_left());
}

TEST_CASE("job: what cannot run") {
  Init init;
  ScratchFolder folder;
  auto end = run({"no-such-program-anywhere"});
  CHECK(end.status == 127);
  CHECK(has(end.err, "there is no program no-such-program-anywhere"));
  end = run({folder.write("data", "x", 0644)});
  CHECK(end.status == 126);
  end = run({folder.write("no-magic", "echo not through a shell\n")});
  CHECK(end.status == 126);
  CHECK(end.out.empty());
  end = run({"--wdir", "/nonexistent/directory", "true"});
  CHECK(end.status == 125);
  CHECK(has(end.err, "/nonexistent/directory"));
  end = run({"-np", "0", "true"});
  CHECK(end.status == 2);
  end = run({});
  CHECK(end.status == 2);
  CHECK(init.nothing_left());
}

TEST_CASE("job: standard input goes to rank 0 and ends there") {
  Init init;
  Run job({"--quiet", "-np", "2", "sh", "-c", "cat | wc -c"});
  job.write(std::string(300'000, 'x'));
  job.close_input();
  const auto end = job.end();
  CHECK(end.status == 0);
  CHECK(sorted_lines(end.out) == Words{"[0] 300000", "[1] 0"});
}

TEST_CASE("job: an input that nobody reads does not keep the job") {
  Init init;
  Run job({"--quiet", "true"});
  const auto end = job.end();  // our end of its input is still open
  CHECK(end.status == 0);
}

TEST_CASE("job: a worker's megabytes arrive whole, and in order") {
  Init init;
  const auto end = run({"-np", "3", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i + 1)); done"});
  CHECK(end.status == 0);
  std::map<char, int> next;
  bool ordered = true;
  for (std::size_t at = 0; at < end.out.size();) {
    const std::size_t line_end = end.out.find('\n', at);
    REQUIRE(line_end != std::string::npos);
    const std::string line = end.out.substr(at, line_end - at);
    ordered = ordered && line.substr(4) == std::to_string(next[line[1]]++);
    at = line_end + 1;
  }
  CHECK(ordered);
  CHECK(next == std::map<char, int>{{'0', 20000}, {'1', 20000}, {'2', 20000}});
}

TEST_CASE("job: a reader that has gone ends it as SIGPIPE would") {
  Init init;
  Run job({"--quiet", "-np", "2", "sh", "-c", "while :; do echo y; done"});
  job.out_line();
  job.close_output();
  CHECK(job.end().status == 141);
  CHECK(init.nothing_left());
}

TEST_CASE("job: output that the disk does not take is no success") {
  Init init;
  os::UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  REQUIRE(full);
  Run job({"--quiet", "sh", "-c", "echo lost"}, full.get());
  job.close_output();
  const auto end = job.end();
  CHECK(end.status != 0);
  CHECK(has(end.err, "no space left"));
  CHECK(init.nothing_left());
}

TEST_CASE("job: stop signals end it, with their status") {
  Init init;
  for (const auto& [signo, status] :
       {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}, std::pair{SIGHUP, 129}, std::pair{SIGQUIT, 131}}) {
    Run job({"-np", "2", "sh", "-c", "echo ready; exec sleep 1000"});
    job.out_line();
    job.out_line();
    job.kill(signo);
    const auto end = job.end();
    CHECK(end.status == status);
    CHECK(has(end.err, "to kill them at once"));
    CHECK(init.nothing_left());
  }
}

TEST_CASE("job: a second stop half a second later kills at once") {
  Init init;
  Run job({"--grace", "1h", kEcho, "stubborn"});
  CHECK(job.out_line() == "ready");
  while (!has(job.err_line(), "rank")) {
  }
  job.kill(SIGTERM);
  while (!has(job.err_line(), "send it again from the same process, half a second from now or later")) {
  }
  std::this_thread::sleep_for(os::StopRule::kInsistAfter);  // counted from before that line
  job.kill(SIGTERM);
  const auto end = job.end();
  CHECK(end.status == 143);
  CHECK(has(end.err, "SIGTERM again: the workers are killed at once"));
  CHECK(init.nothing_left());
}

TEST_CASE("job: the grace is kept, then workers are killed") {
  Init init;
  Run job({"--quiet", "--grace", "300ms", "-np", "2", "sh", "-c",
           "if test $RANK = 0; then exec '" + kEcho + "' stubborn; fi; sleep 0.1; exit 4"});
  CHECK(job.end().status == 4);
  CHECK(init.nothing_left());
}

TEST_CASE("job: signals that stop nothing are passed on") {
  Init init;
  Run job({"--quiet", "-np", "2", kEcho, "await_signal"});
  job.out_line();
  job.out_line();
  job.kill(SIGUSR1);
  const auto end = job.end();
  CHECK(end.status == 0);
  CHECK(sorted_lines(end.out) == Words{"[0] usr1", "[1] usr1"});
}

TEST_CASE("job: which signals are passed on can be chosen") {
  Init init;
  Run job({"--quiet", "-np", "1", "--forward-signals", "HUP,SIGALRM", "sh", "-c",
           "trap 'echo hup' HUP; trap 'echo alarm; exit 3' ALRM; trap 'exit 9' USR1; echo ready; "
           "while :; do sleep 0.02; done"});
  CHECK(job.out_line() == "ready");
  job.kill(SIGUSR1);  // left out of the list: ignored
  job.kill(SIGHUP);   // would stop the job
  CHECK(job.out_line() == "hup");
  job.kill(SIGALRM);
  CHECK(job.out_line() == "alarm");
  CHECK(job.end().status == 3);
  CHECK(init.nothing_left());
}

TEST_CASE("job: nothing is left when sml-run is killed") {
  Init init;
  Run job({"--quiet", "--grace", "200ms", "-np", "2", kEcho, "daemons"});
  const pid_t daemon = std::stoi(job.out_line().substr(4));
  const pid_t other = std::stoi(job.out_line().substr(4));
  CHECK(fake::runs(daemon));
  job.kill(SIGKILL);
  CHECK(job.end().status == 1000 + SIGKILL);
  CHECK(init.nothing_left());
  CHECK_FALSE(fake::runs(daemon));
  CHECK_FALSE(fake::runs(other));
}

TEST_CASE("job: a daemon neither keeps the job nor survives it") {
  Init init;
  Run job({kEcho, "daemon"});
  const pid_t daemon = std::stoi(job.out_line());
  const auto end = job.end();
  CHECK(end.status == 0);
  CHECK(has(end.err, "still holds its output"));
  CHECK(init.nothing_left());
  CHECK_FALSE(fake::runs(daemon));
}

TEST_CASE("job: workers that somebody ended through their agent are no success") {
  Init init;
  Run job({"sh", "-c", "echo ready; exec sleep 1000"});
  CHECK(job.out_line() == "ready");
  const auto agents = agents_of(job.pid());
  REQUIRE(agents.size() == 1);
  ::kill(agents[0], SIGTERM);
  const auto end = job.end();
  CHECK(end.status != 0);
  CHECK(init.nothing_left());
}

TEST_CASE("job: a killed agent is a lost host") {
  Init init;
  Run job({"sh", "-c", "echo ready; exec sleep 1000"});
  CHECK(job.out_line() == "ready");
  const auto agents = agents_of(job.pid());
  REQUIRE(agents.size() == 1);
  ::kill(agents[0], SIGKILL);
  const auto end = job.end();
  CHECK(end.status == 125);
  CHECK(has(end.err, "its agent has gone before its work was done"));
  CHECK(init.nothing_left());
}

TEST_CASE("job: 256 workers") {
  Init init;
  const auto end = run({"-np", "256", "--oversubscribe", "-H", "localhost:256", "sh", "-c", "echo $RANK"});
  CHECK(end.status == 0);
  const Words lines = sorted_lines(end.out);
  CHECK(std::set<std::string>(lines.begin(), lines.end()).size() == 256);
  CHECK(init.nothing_left());
}

// ---- several hosts

TEST_CASE("hosts: agents are sent, ranks placed, lines merged, statuses told; the second job finds the agents there") {
  Init init;
  FakeHosts hosts;
  for (int round = 0; round < 2; ++round) {
    const auto end =
        run(hosts.arguments("u@h1:2,u@h2:2,u@h3:1", {"sh", "-c", "echo $RANK $LOCAL_RANK $SML_HOST $LOGIN_OF $HOME"}));
    CHECK(end.status == 0);
    CHECK(end.err.empty());
    const std::string at = hosts.folder().path();
    CHECK(sorted_lines(end.out) == Words{"[0] 0 0 h1 u@h1 " + at + "/u@h1", "[1] 1 1 h1 u@h1 " + at + "/u@h1",
                                         "[2] 2 0 h2 u@h2 " + at + "/u@h2", "[3] 3 1 h2 u@h2 " + at + "/u@h2",
                                         "[4] 4 0 h3 u@h3 " + at + "/u@h3"});
    CHECK(init.nothing_left());
  }
  struct stat info {};
  CHECK(::stat((hosts.folder() / "u@h3/.cache/sml-run").c_str(), &info) == 0);
}

TEST_CASE("hosts: the first failure of any ends all") {
  Init init;
  FakeHosts hosts;
  const auto end = run(hosts.arguments("u@h1:2,u@h2:2", {"sh", "-c", "test $RANK != 3 || exit 7; exec sleep 1000"}));
  CHECK(end.status == 7);
  CHECK(init.nothing_left());
}

TEST_CASE("hosts: neither arguments nor variables pass the ssh command") {
  Init init;
  FakeHosts hosts;
  const auto end =
      run(hosts.arguments("u@h1", {"-x", "TOKEN=secret-value", "sh", "-c", "echo $TOKEN", "secret-argument"}));
  CHECK(end.status == 0);
  CHECK(end.out == "secret-value\n");
  const std::string calls = fake::read_file(hosts.folder() / "calls");
  CHECK_FALSE(calls.empty());
  CHECK_FALSE(has(calls, "secret"));
  CHECK(init.nothing_left());
}

TEST_CASE("hosts: odd bytes arrive there as they do here") {
  Init init;
  FakeHosts hosts;
  const auto end =
      run(hosts.arguments("u@h1", {"-x", "ODD=a'b\"c$d`e\\f\n*\xff", "--wdir", hosts.folder().path(), "sh", "-c",
                                   "printf '%s|' \"$ODD\" \"$PWD\" \"$@\"", "sh", "", "x\ny", "$HOME"}));
  CHECK(end.status == 0);
  CHECK(end.out == "a'b\"c$d`e\\f\n*\xff|" + hosts.folder().path() + "||x\ny|$HOME|");
}

TEST_CASE("hosts: files that workers make there have the login's mode, not ours for the cache") {
  Init init;
  FakeHosts hosts;
  const mode_t before = ::umask(022);
  const auto end = run(hosts.arguments("u@h1", {"sh", "-c", "umask"}));
  ::umask(before);
  CHECK(end.out == "0022\n");
}

TEST_CASE("hosts: those that cannot be reached are named in one line, the others let go") {
  Init init;
  FakeHosts hosts;
  const auto end = run(hosts.arguments("u@h1,u@refused-1,u@refused-2,u@shut-1", {"sh", "-c", "echo never"}));
  CHECK(end.status == 125);
  CHECK(end.out.empty());
  CHECK(has(end.err, "refused-1"));
  CHECK(has(end.err, "refused-2"));
  CHECK(has(end.err, "Connection refused"));
  CHECK(has(end.err, "shut-1"));
  CHECK(has(end.err, "This account is currently not available."));
  CHECK(init.nothing_left());
}

TEST_CASE("hosts: a program that is missing there is 127, and the host is named") {
  Init init;
  FakeHosts hosts;
  const auto end = run(hosts.arguments("u@h1,u@h2", {"no-such-program-anywhere"}));
  CHECK(end.status == 127);
  CHECK(has(end.err, "2 hosts: there is no program no-such-program-anywhere: h[1-2]"));
  CHECK(init.nothing_left());
}

TEST_CASE("hosts: one that does not answer in time is named with what it was at") {
  Init init;
  FakeHosts hosts;
  const std::string timeout = fake::scaled_option(2s);
  const auto end = run(hosts.arguments("u@h1,u@silent-1", {"--start-timeout", timeout, "sh", "-c", "echo never"}));
  CHECK(end.status == 125);
  CHECK(has(end.err, "silent-1: not ready after "));
  CHECK(has(end.err, " (starting the agent)"));
  CHECK(init.nothing_left());
}

TEST_CASE("hosts: a stop while hosts are still being contacted ends cleanly") {
  Init init;
  FakeHosts hosts;
  Run job(hosts.arguments("u@h1,u@silent-1", {"sh", "-c", "echo never"}));
  // the reachable host is there: its home has been made
  REQUIRE(fake::eventually([&] {
    struct stat info {};
    return ::stat((hosts.folder() / "u@h1").c_str(), &info) == 0;
  }));
  job.kill(SIGTERM);
  const auto end = job.end();
  CHECK(end.status == 143);
  CHECK(end.out.empty());
  CHECK_FALSE(has(end.err, "no word"));  // what never ran there need not be confirmed
  CHECK(init.nothing_left());
}

TEST_CASE("hosts: a connection that breaks ends the job everywhere") {
  Init init;
  FakeHosts hosts;
  Run job(hosts.arguments("u@h1,u@h2", {"--grace", "200ms", "sh", "-c", "echo ready; exec sleep 1000"}));
  job.out_line();
  job.out_line();
  // what runs for the second host: the script has become its agent
  const auto agents = agents_of(job.pid());
  REQUIRE(agents.size() == 2);
  ::kill(agents[1], SIGKILL);
  const auto end = job.end();
  CHECK(end.status == 125);
  CHECK(has(end.err, "its agent has gone before its work was done"));
  CHECK(init.nothing_left());
}

TEST_CASE("hosts: nothing is left on any when sml-run is killed") {
  Init init;
  FakeHosts hosts;
  Run job(hosts.arguments("u@h1:2,u@h2:2", {"--quiet", "--grace", "200ms", kEcho, "stubborn"}));
  for (int i = 0; i < 4; ++i) job.out_line();
  job.kill(SIGKILL);
  CHECK(job.end().status == 1000 + SIGKILL);
  CHECK(init.nothing_left());
}
