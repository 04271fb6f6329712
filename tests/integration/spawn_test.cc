#include "common/os/spawn.h"

#include <algorithm>
#include <csignal>
#include <set>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/os/fd.h"
#include "launcher/os/child.h"
#include "tests/support/catch.h"
#include "tests/support/fake_init.h"

using namespace sml;
using namespace std::string_literals;
using fake::Init;
using fake::ScratchFolder;

namespace {

const std::string kEcho = SML_BUILD_DIR "/tests/helpers/echo_process";

struct Launched {
  std::variant<pid_t, SpawnFailed> result;
  std::string out;
  std::string err;
  int raw_status = -1;

  bool started() const { return std::holds_alternative<pid_t>(result); }
  // "key" of echo_process's report, every time that it stands there.
  std::vector<std::string> values(const std::string& key) const {
    std::vector<std::string> found;
    for (std::size_t at = 0; at < out.size();) {
      const std::string entry = out.c_str() + at;
      at += entry.size() + 1;
      if (entry.starts_with(key + "=")) found.push_back(entry.substr(key.size() + 1));
    }
    return found;
  }
  std::string value(const std::string& key) const {
    const auto all = values(key);
    return all.size() == 1 ? all[0] : "(" + std::to_string(all.size()) + " values)";
  }
};

// Starts a worker, takes all of its output and waits for it.
Launched launch(const std::vector<std::string>& argv, const std::vector<std::string>& environment = {},
                const std::string& directory = "", unsigned long descriptor_limit = 0) {
  auto out = os::make_pipe();
  auto err = os::make_pipe();
  auto null = os::open_dev_null();
  REQUIRE((out.has_value() && err.has_value() && null.has_value()));
  Launched launched;
  const std::vector<int> ignored = os::ignored_signals();
  launched.result = os::spawn_worker({.program = {},
                                      .argv = argv,
                                      .environment = environment,
                                      .working_directory = directory,
                                      .stdin_fd = null->get(),
                                      .stdout_fd = out->write.get(),
                                      .stderr_fd = err->write.get(),
                                      .descriptor_limit = descriptor_limit,
                                      .ignored_signals = ignored});
  out->write.reset();
  err->write.reset();
  launched.out = fake::read_all(out->read.get());
  launched.err = fake::read_all(err->read.get());
  if (const auto* pid = std::get_if<pid_t>(&launched.result)) REQUIRE(::waitpid(*pid, &launched.raw_status, 0) == *pid);
  // whatever happened, nothing is left to reap
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
  return launched;
}

void must_fail(const Launched& launched, SpawnStep step, int sys_errno) {
  REQUIRE_FALSE(launched.started());
  CHECK(std::get<SpawnFailed>(launched.result) == SpawnFailed{step, sys_errno});
}

std::string all_bytes_but_nul() {
  std::string out;
  for (int i = 1; i < 256; ++i) out.push_back(static_cast<char>(i));
  return out;
}

}  // namespace

TEST_CASE("arguments and environment arrive byte for byte") {
  Init init;
  const std::vector<std::string> argv = {kEcho,
                                         "report",
                                         "",
                                         "a b",
                                         "'single' \"double\" `back` \\",
                                         "$HOME ${X} $(false)",
                                         "*",
                                         "?[a-z]",
                                         "line\nbreak\ttab",
                                         "-n",
                                         "--",
                                         "\xff\xfe not utf-8 \xc3\x28",
                                         all_bytes_but_nul(),
                                         std::string(100000, 'x')};
  const std::vector<std::string> environment = {
      "EMPTY=", "QUOTES='\"`\\", "LINES=a\nb\n", "BYTES=" + all_bytes_but_nul(), "PATH=/nowhere", "no equals sign"};
  const Launched launched = launch(argv, environment);
  REQUIRE(launched.started());
  CHECK(launched.values("arg") == argv);
  CHECK(launched.values("env") == environment);
  CHECK(launched.raw_status == 0);
}

TEST_CASE("nothing of our own environment reaches a worker") {
  Init init;
  ::setenv("SML_TEST_SECRET", "x", 1);
  CHECK(launch({kEcho}, {}).values("env").empty());
  ::unsetenv("SML_TEST_SECRET");
}

TEST_CASE("a worker gets descriptors of its own as 3, 4, ..., and no others") {
  Init init;
  auto out = os::make_pipe();
  auto null = os::open_dev_null();
  auto own = os::make_pipe();
  REQUIRE((out.has_value() && null.has_value() && own.has_value()));
  // One has a number that another is to become.
  const os::UniqueFd third(::fcntl(own->read.get(), F_DUPFD_CLOEXEC, 4));
  const int more[] = {third.get(), own->write.get()};
  const std::vector<std::string> argv{kEcho, "report"};
  const auto result = os::spawn_worker({.program = {},
                                        .argv = argv,
                                        .environment = {},
                                        .working_directory = {},
                                        .stdin_fd = null->get(),
                                        .stdout_fd = out->write.get(),
                                        .stderr_fd = null->get(),
                                        .ignored_signals = {},
                                        .more_descriptors = more});
  out->write.reset();
  const std::string told = fake::read_all(out->read.get());
  REQUIRE(std::holds_alternative<pid_t>(result));
  REQUIRE(::waitpid(std::get<pid_t>(result), nullptr, 0) == std::get<pid_t>(result));
  CHECK(told.find("fds=0 1 2 3 4 ") != told.npos);
  CHECK(told.find("fds=0 1 2 3 4 5") == told.npos);
}

TEST_CASE("a worker has its own directory, and relative programs are relative to it") {
  Init init;
  ScratchFolder folder;
  const std::string odd = folder / "a dir with $dollar";
  REQUIRE(::mkdir(odd.c_str(), 0755) == 0);
  CHECK(launch({kEcho}, {}, odd).value("cwd") == odd);
  REQUIRE(::symlink(kEcho.c_str(), (odd + "/prog").c_str()) == 0);
  CHECK(launch({"./prog"}, {}, odd).value("cwd") == odd);
  char here[4096];
  REQUIRE(::getcwd(here, sizeof here) != nullptr);
  CHECK(launch({kEcho}).value("cwd") == here);
}

TEST_CASE("a worker has the three descriptors and no other") {
  Init init;
  std::vector<os::UniqueFd> leaked;  // as a library might, without close-on-exec
  for (int i = 0; i < 20; ++i) leaked.emplace_back(::open("/dev/null", O_RDONLY));
  leaked.emplace_back(::fcntl(leaked[0].get(), F_DUPFD, 500));
  CHECK(launch({kEcho}).value("fds") == "0 1 2 ");
}

TEST_CASE("the three descriptors may be given in any numbers") {
  Init init;
  auto out = os::make_pipe();
  REQUIRE(out.has_value());
  const int saved[3] = {::dup(0), ::dup(1), ::dup(2)};
  // crosswise: the worker's 1 and 2 come from our 0, its 0 from our 1
  ::dup2(out->write.get(), 0);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(null, 1);
  const std::vector<std::string> argv = {"/bin/sh", "-c", "echo out; echo err >&2; read x || echo no input"};
  const auto result = os::spawn_worker({.program = {},
                                        .argv = argv,
                                        .environment = {},
                                        .working_directory = {},
                                        .stdin_fd = 1,
                                        .stdout_fd = 0,
                                        .stderr_fd = 0,
                                        .ignored_signals = {}});
  for (int i = 0; i < 3; ++i) {
    ::dup2(saved[i], i);
    ::close(saved[i]);
  }
  ::close(null);
  out->write.reset();
  CHECK(fake::read_all(out->read.get()) == "out\nerr\nno input\n");
  REQUIRE(std::holds_alternative<pid_t>(result));
  CHECK(init.nothing_left());
}

TEST_CASE("a worker blocks and ignores no signal, whatever we do") {
  Init init;
  sigset_t set;
  sigset_t before;
  sigfillset(&set);
  ::sigprocmask(SIG_BLOCK, &set, &before);
  for (const int signo : {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGTSTP, SIGCHLD}) ::signal(signo, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);  // or waiting would find nobody
  const Launched launched = launch({kEcho});
  for (const int signo : {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGTSTP}) ::signal(signo, SIG_DFL);
  sigset_t now;
  ::sigprocmask(SIG_SETMASK, &before, &now);
  CHECK(launched.value("ignored") == "");
  CHECK(launched.value("blocked") == "");
  CHECK(::sigismember(&now, SIGUSR2) == 1);  // our own mask is as it was
}

TEST_CASE("a worker leads a group of its own in our session, and dies with its parent") {
  Init init;
  const Launched launched = launch({kEcho});
  CHECK(launched.value("leader") == "yes");
  CHECK(launched.value("session") == std::to_string(::getsid(0)));
  CHECK(launched.value("pdeathsig") == std::to_string(SIGKILL));
}

TEST_CASE("a worker whose parent dies is gone at once") {
  Init init;
  auto told = os::make_pipe();
  REQUIRE(told.has_value());
  const pid_t parent = ::fork();
  if (parent == 0) {
    const std::vector<std::string> argv = {kEcho, "stubborn"};
    const int null = ::open("/dev/null", O_RDWR);
    const auto result = os::spawn_worker({.program = {},
                                          .argv = argv,
                                          .environment = {},
                                          .working_directory = {},
                                          .stdin_fd = null,
                                          .stdout_fd = told->write.get(),
                                          .stderr_fd = null,
                                          .ignored_signals = {}});
    if (!std::holds_alternative<pid_t>(result)) ::_exit(1);
    ::dprintf(told->write.get(), "pid %d\n", std::get<pid_t>(result));
    ::pause();
    ::_exit(1);
  }
  told->write.reset();
  pid_t worker = 0;
  for (int line = 0; line < 2; ++line) {  // "ready" and "pid", in either order
    const std::string text = fake::read_line(told->read.get());
    if (text.starts_with("pid ")) worker = std::stoi(text.substr(4));
  }
  REQUIRE(worker > 0);
  CHECK(fake::runs(worker));
  ::kill(parent, SIGKILL);
  CHECK(fake::eventually([&] { return !fake::runs(worker); }));
  CHECK(init.nothing_left());
}

TEST_CASE("the limit on descriptors is the one that was asked for") {
  Init init;
  rlimit own{};
  ::getrlimit(RLIMIT_NOFILE, &own);
  CHECK(launch({kEcho}, {}, "", 77).value("nofile") == "77");
  CHECK(launch({kEcho}).value("nofile") == std::to_string(own.rlim_cur));
  rlimit after{};
  ::getrlimit(RLIMIT_NOFILE, &after);
  CHECK(after.rlim_cur == own.rlim_cur);
}

TEST_CASE("every failure says at which step and why, and leaves nothing to reap") {
  Init init;
  ScratchFolder folder;
  must_fail(launch({"/nonexistent/program"}), SpawnStep::Exec, ENOENT);
  must_fail(launch({folder.write("not-executable", "#!/bin/sh\n", 0644)}), SpawnStep::Exec, EACCES);
  must_fail(launch({folder.path()}), SpawnStep::Exec, EACCES);
  must_fail(launch({folder.write("no-magic", "echo not through a shell\n")}), SpawnStep::Exec, ENOEXEC);
  must_fail(launch({folder.write("empty", "")}), SpawnStep::Exec, ENOEXEC);
  must_fail(launch({folder.write("no-interpreter", "#!/nonexistent/interpreter\n")}), SpawnStep::Exec, ENOENT);
  must_fail(launch({kEcho}, {}, "/nonexistent/directory"), SpawnStep::Directory, ENOENT);
  must_fail(launch({kEcho}, {}, folder.write("a-file", "")), SpawnStep::Directory, ENOTDIR);
  must_fail(launch({kEcho, std::string(std::size_t{200} << 10, 'x')}), SpawnStep::Exec, E2BIG);  // one string: 128 KiB
  must_fail(launch({kEcho}, std::vector<std::string>(100, "V=" + std::string(100000, 'x'))), SpawnStep::Exec, E2BIG);
}

TEST_CASE("closed descriptors are a failure, not a worker without them") {
  Init init;
  const std::vector<std::string> argv = {kEcho};
  const auto result = os::spawn_worker({.program = {},
                                        .argv = argv,
                                        .environment = {},
                                        .working_directory = {},
                                        .stdin_fd = -1,
                                        .stdout_fd = 1,
                                        .stderr_fd = 2,
                                        .ignored_signals = {}});
  REQUIRE(std::holds_alternative<SpawnFailed>(result));
  CHECK(std::get<SpawnFailed>(result) == SpawnFailed{SpawnStep::Pipe, EBADF});
  CHECK(init.nothing_left());
}

TEST_CASE("a hundred failures leave neither processes nor descriptors") {
  Init init;
  const auto descriptors = [] {
    int count = 0;
    for (int fd = 0; fd < 1024; ++fd) count += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    return count;
  };
  const int before = descriptors();
  for (int i = 0; i < 100; ++i) must_fail(launch({"/nonexistent/program"}), SpawnStep::Exec, ENOENT);
  CHECK(descriptors() == before);
}

TEST_CASE("programs are looked up in the PATH of the worker's environment, folder by folder") {
  using Files = std::vector<std::string>;
  CHECK(os::program_candidates("/bin/x", std::vector<std::string>{"PATH=/a"}) == Files{"/bin/x"});
  CHECK(os::program_candidates("./x", std::vector<std::string>{"PATH=/a"}) == Files{"./x"});
  CHECK(os::program_candidates("x", std::vector<std::string>{"PATH=/a:/b"}) == Files{"/a/x", "/b/x"});
  CHECK(os::program_candidates("x", std::vector<std::string>{"PATH=:/a::/b:"}) ==
        Files{"./x", "/a/x", "./x", "/b/x", "./x"});
  CHECK(os::program_candidates("x", std::vector<std::string>{"PATH="}) == Files{"./x"});
  CHECK(os::program_candidates("x", std::vector<std::string>{}) == Files{"/usr/local/bin/x", "/usr/bin/x", "/bin/x"});
}

TEST_CASE("the look-up finds what execve would, and steps over what it would not") {
  Init init;
  ScratchFolder folder;
  for (const char* name : {"/first", "/second", "/third", "/a-folder"})
    REQUIRE(::mkdir((folder.path() + name).c_str(), 0755) == 0);
  folder.write("first/tool", "#!/bin/sh\necho never\n", 0644);  // may not be executed: the next
  folder.write("second/tool", "#!/bin/sh\necho second\n");
  folder.write("third/tool", "#!/bin/sh\necho third\n");
  const std::string path = "PATH=/nonexistent:" + folder / "a-file" + ":" + folder / "first" + ":" + folder / "second" +
                           ":" + folder / "third";
  folder.write("a-file", "");
  CHECK(launch({"tool"}, {path}).out == "second\n");
  CHECK(os::has_program("tool", std::vector<std::string>{path}));
  CHECK_FALSE(os::has_program("tool", std::vector<std::string>{"PATH=" + folder / "first"}));
  CHECK_FALSE(os::has_program("a-folder", std::vector<std::string>{"PATH=" + folder.path()}));
  must_fail(launch({"tool"}, {"PATH=" + folder / "first"}), SpawnStep::Exec, EACCES);
  must_fail(launch({"tool"}, {"PATH=" + folder / "nowhere"}), SpawnStep::Exec, ENOENT);
  // an empty entry is the worker's directory
  CHECK(launch({"tool"}, {"PATH=/nonexistent:"}, folder / "third").out == "third\n");
  CHECK(launch({"tool"}, {"PATH="}, folder / "second").out == "second\n");
}

TEST_CASE("what could not run is told before anything is started") {
  Init init;
  ScratchFolder folder;
  REQUIRE(::mkdir((folder / "bin").c_str(), 0755) == 0);
  folder.write("bin/tool", "#!/bin/sh\n");
  folder.write("bin/data", "x", 0644);
  const std::vector<std::string> environment = {"PATH=" + folder / "bin"};
  const auto find = [&](const std::string& program, const std::string& directory) {
    const std::vector<std::string> argv = {program};
    return os::find_program(argv, environment, directory);
  };
  CHECK(*find("tool", "") == folder / "bin/tool");
  CHECK(*find("./tool", folder / "bin") == "./tool");  // relative to the directory, as execve takes it
  CHECK(*find("bin/tool", folder.path()) == "bin/tool");
  CHECK(find("missing", "").error().kind() == ErrorKind::NotFound);
  CHECK(find("missing", "").error().message() == "there is no program missing");
  CHECK(find("./missing", folder.path()).error().kind() == ErrorKind::NotFound);
  CHECK(find("data", "").error().kind() == ErrorKind::NotExecutable);
  CHECK(find("data", "").error().message() == folder / "bin/data may not be executed");
  CHECK(find("./bin", folder.path()).error().message() == "./bin is a directory");
  CHECK(find("./bin", folder.path()).error().hint() == "name a program in it");
  CHECK(find("tol", "").error().hint().starts_with("did you mean tool? "));
  CHECK(find("missing", "").error().hint().starts_with("is it installed there"));
  CHECK(find("tool", "/nonexistent").error().kind() == ErrorKind::Spawn);
  CHECK(find("tool", "/nonexistent").error().message() ==
        "the working directory /nonexistent cannot be entered: no such file or directory");
  CHECK(find("tool", folder / "bin/data").error().kind() == ErrorKind::Spawn);
}

TEST_CASE("a script whose interpreter is missing is told as that") {
  Init init;
  ScratchFolder folder;
  const auto find = [&](const std::string& program) {
    const std::vector<std::string> argv = {program};
    return os::find_program(argv, std::vector<std::string>{}, folder.path());
  };
  const auto missing = find(folder.write("missing", "#! /nonexistent/interpreter -x\n"));
  REQUIRE(missing.has_error());
  CHECK(missing.error().kind() == ErrorKind::NotExecutable);
  CHECK(missing.error().message() == "the first line of " + folder / "missing" +
                                         " names an interpreter that is not there: /nonexistent/interpreter");
  const auto windows = find(folder.write("windows", "#!/bin/sh\r\necho x\r\n"));
  REQUIRE(windows.has_error());
  CHECK(windows.error().hint().find("Windows line ends") != std::string::npos);
  const auto by_env = find(folder.write("by-env", "#!/usr/bin/env python3\r\nprint(1)\r\n"));
  REQUIRE(by_env.has_error());
  CHECK(by_env.error().hint().find("Windows line ends") != std::string::npos);
  for (const std::string text : {"#!/bin/sh", "#!/bin/sh\n", "#! \t/usr/bin/env sh\n", "#!\n", "#!",
                                 "\x7f"
                                 "ELF",
                                 ""}) {
    CAPTURE(text);
    CHECK(find(folder.write("fine", text)).has_value());
  }
}

TEST_CASE("an interpreter that is named relative to the worker's directory is looked for there") {
  Init init;
  ScratchFolder folder;
  REQUIRE(::symlink("/bin/sh", (folder / "interpreter").c_str()) == 0);
  folder.write("script", "#!./interpreter\necho ran\n");
  const std::vector<std::string> argv = {"./script"};
  CHECK(launch(argv, {}, folder.path()).out == "ran\n");
  CHECK(os::find_program(argv, std::vector<std::string>{}, folder.path()).has_value());
}

TEST_CASE("the file that is executed and the name that the worker sees may differ") {
  Init init;
  auto out = os::make_pipe();
  auto null = os::open_dev_null();
  const std::vector<std::string> argv = {"a name", "report"};
  const auto result = os::spawn_worker({.program = kEcho,
                                        .argv = argv,
                                        .environment = {},
                                        .working_directory = {},
                                        .stdin_fd = null->get(),
                                        .stdout_fd = out->write.get(),
                                        .stderr_fd = null->get(),
                                        .ignored_signals = {}});
  REQUIRE(std::holds_alternative<pid_t>(result));
  out->write.reset();
  Launched launched;
  launched.out = fake::read_all(out->read.get());
  CHECK(launched.values("arg") == argv);
  CHECK(init.nothing_left());
}

TEST_CASE("helpers have a session, default signals and the given descriptors") {
  Init init;
  auto out = os::make_pipe();
  auto null = os::open_dev_null();
  sigset_t set;
  sigset_t before;
  sigfillset(&set);
  ::sigprocmask(SIG_BLOCK, &set, &before);
  const auto pid = os::spawn_helper(
      {.argv = {kEcho}, .stdin_fd = null->get(), .stdout_fd = out->write.get(), .stderr_fd = null->get()});
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  REQUIRE(pid.has_value());
  out->write.reset();
  Launched launched;
  launched.out = fake::read_all(out->read.get());
  std::string expected = "0 1 2 ";  // and what this test was started with itself, but nothing that is close-on-exec
  for (int fd = 3; fd < 65536; ++fd) {
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) expected += std::to_string(fd) + " ";
  }
  CHECK(launched.value("fds") == expected);
  CHECK(launched.value("leader") == "yes");
  CHECK(launched.value("blocked") == "");
  CHECK(launched.value("ignored") == "");  // we ignore SIGPIPE
  CHECK(launched.value("pdeathsig") == "0");
  CHECK(init.nothing_left());
}

TEST_CASE("a helper may be a descriptor instead of a file") {
  Init init;
  auto out = os::make_pipe();
  auto null = os::open_dev_null();
  os::UniqueFd program(::open("/bin/echo", O_RDONLY | O_CLOEXEC));
  const auto pid = os::spawn_helper({.argv = {"any name", "from a descriptor"},
                                     .program_fd = program.get(),
                                     .stdin_fd = null->get(),
                                     .stdout_fd = out->write.get(),
                                     .stderr_fd = null->get()});
  REQUIRE(pid.has_value());
  out->write.reset();
  CHECK(fake::read_all(out->read.get()) == "from a descriptor\n");
  CHECK(init.nothing_left());
}

TEST_CASE("a helper looks for programs and libraries only where nobody else can put them; an agent keeps its lists") {
  Init init;
  ScratchFolder folder;
  const std::string open = folder / "open";
  REQUIRE(::mkdir(open.c_str(), 0777) == 0);
  REQUIRE(::chmod(open.c_str(), 0777) == 0);
  const std::vector<std::string> environment{"PATH=" + open + ":/usr/bin", "LD_LIBRARY_PATH=:" + open,
                                             "PYTHONPATH=" + open, "LD_PRELOAD=" + open + "/x.so", "OTHER=" + open};
  const std::vector<std::string> kept{"PATH=/usr/bin", "OTHER=" + open};
  for (const bool as_it_is : {false, true}) {
    auto out = os::make_pipe();
    auto null = os::open_dev_null();
    const auto pid = os::spawn_helper({.argv = {kEcho, "report"},
                                       .stdin_fd = null->get(),
                                       .stdout_fd = out->write.get(),
                                       .stderr_fd = null->get(),
                                       .environment = environment,
                                       .environment_as_it_is = as_it_is});
    REQUIRE(pid.has_value());
    out->write.reset();
    Launched launched;
    launched.out = fake::read_all(out->read.get());
    CHECK(launched.values("env") == (as_it_is ? environment : kept));
  }
  CHECK(init.nothing_left());
}

TEST_CASE("a helper that cannot be started is an error with its name") {
  Init init;
  const auto pid = os::spawn_helper({.argv = {"/nonexistent/helper"}, .stdin_fd = 0, .stdout_fd = 1, .stderr_fd = 2});
  REQUIRE(pid.has_error());
  CHECK(pid.error().kind() == ErrorKind::Spawn);
  CHECK(pid.error().message() == "cannot start /nonexistent/helper: no such file or directory");
  CHECK(init.nothing_left());
}
