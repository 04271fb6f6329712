#include "common/os/descendants.h"

#include <algorithm>
#include <csignal>
#include <map>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/os/fd.h"
#include "tests/support/catch.h"
#include "tests/support/fake_init.h"

using namespace sml;
using fake::Init;

namespace {

// A child that does `what` in the new process and then sleeps for ever; answers when `what` is done.
template <class What>
pid_t child(What what) {
  auto ready = os::make_pipe();
  REQUIRE(ready.has_value());
  const pid_t pid = ::fork();
  if (pid == 0) {
    what();
    os::write_all(ready->write.get(), "x");
    for (;;) ::pause();
  }
  char done = 0;
  REQUIRE(::read(ready->read.get(), &done, 1) == 1);
  return pid;
}

std::map<pid_t, ExitStatus> reap() {
  std::map<pid_t, ExitStatus> out;
  os::reap_children([&](pid_t pid, const ExitStatus& status, const Usage&) { out[pid] = status; });
  return out;
}

// All threads of it, and it is not reaped. A leader that is a zombie may have threads still, those of sanitizers too.
void await_end(pid_t pid) {
  siginfo_t news{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(pid), &news, WEXITED | WNOWAIT) == 0);
}

bool contains(const std::vector<pid_t>& list, pid_t pid) {
  return std::find(list.begin(), list.end(), pid) != list.end();
}

}  // namespace

TEST_CASE("children are listed, dead ones too, until they are reaped") {
  Init init;
  CHECK(os::children().empty());
  const pid_t sleeper = child([] {});
  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(3);
  await_end(dead);
  CHECK(os::children().size() == 2);
  CHECK(contains(os::children(), sleeper));
  CHECK(contains(os::children(), dead));
  CHECK(reap() == std::map<pid_t, ExitStatus>{{dead, Exited{3}}});
  CHECK(os::children() == std::vector<pid_t>{sleeper});
  ::kill(sleeper, SIGKILL);
  await_end(sleeper);
  CHECK(reap() == std::map<pid_t, ExitStatus>{{sleeper, Signaled{SIGKILL, false}}});
  CHECK(os::children().empty());
}

TEST_CASE("the children of our children are not ours while their parents live") {
  Init init;
  const pid_t parent = child([] {
    if (::fork() == 0) {
      for (;;) ::pause();
    }
  });
  CHECK(os::children() == std::vector<pid_t>{parent});
}

TEST_CASE("orphans come to us, however they hide") {
  Init init;
  REQUIRE(os::become_subreaper());
  auto told = os::make_pipe();
  const pid_t parent = ::fork();
  if (parent == 0) {
    if (::fork() == 0) {
      ::setsid();
      if (::fork() == 0) {  // neither parent nor session in common with us
        ::setsid();
        ::dprintf(told->write.get(), "%d\n", ::getpid());
        for (;;) ::pause();
      }
      ::_exit(0);
    }
    ::_exit(0);
  }
  const pid_t daemon = std::stoi(fake::read_line(told->read.get()));
  REQUIRE(fake::eventually([&] { return contains(os::children(), daemon); }));
  REQUIRE(fake::eventually([&] {
    reap();
    return os::children() == std::vector<pid_t>{daemon};
  }));
  CHECK(fake::runs(daemon));
  ::kill(daemon, SIGTERM);
  await_end(daemon);
  CHECK(reap() == std::map<pid_t, ExitStatus>{{daemon, Signaled{SIGTERM, false}}});
  CHECK(init.nothing_left());
}

TEST_CASE("reaping collects everybody at once and waits for nobody") {
  Init init;
  CHECK(reap().empty());
  const pid_t sleeper = child([] {});
  CHECK(reap().empty());
  std::map<pid_t, ExitStatus> expected;
  for (int code = 0; code < 50; ++code) {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(code);
    expected[pid] = Exited{code};
  }
  for (const auto& [pid, status] : expected) await_end(pid);
  CHECK(reap() == expected);
  CHECK(os::children() == std::vector<pid_t>{sleeper});
}

TEST_CASE("many children are all listed") {
  Init init;
  std::vector<pid_t> pids;
  for (int i = 0; i < 1000; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(0);
    pids.push_back(pid);
  }
  std::vector<pid_t> listed = os::children();
  std::sort(pids.begin(), pids.end());
  std::sort(listed.begin(), listed.end());
  CHECK((listed == pids));
}

TEST_CASE("a process that would not die is described") {
  Init init;
  const pid_t pid = child([] { ::prctl(PR_SET_NAME, "odd) (name"); });
  REQUIRE(fake::eventually([&] { return fake::state_of(pid) == "S"; }));
  const std::string number = std::to_string(pid);
  CHECK(os::describe_process(pid).starts_with("pid " + number + " (odd) (name), state S"));
  ::kill(pid, SIGSTOP);
  REQUIRE(fake::eventually([&] { return fake::state_of(pid) == "T"; }));
  CHECK(os::describe_process(pid).starts_with("pid " + number + " (odd) (name), state T"));
  ::kill(pid, SIGKILL);
  await_end(pid);
  CHECK(os::describe_process(pid).find(", state Z") != std::string::npos);
  CHECK(init.nothing_left());
  CHECK(os::describe_process(pid) == "pid " + number + " ()");
}
