// A worker that tells what it is, or that behaves badly in one chosen way. For the integration tests.
//
//   echo_process report            argv, environment, directory, descriptors, signals, session: one "key=value\0" each
//   echo_process exit CODE
//   echo_process stubborn          ignores SIGTERM; says "ready\n" and sleeps
//   echo_process stopped           says "ready\n" and stops itself
//   echo_process daemon [term]     a grandchild in a session of its own that keeps stdout; prints "PID\n", then exits
//                                  0. With "term" the grandchild ignores SIGTERM
//   echo_process daemons           the same, but lives on
//   echo_process runaway           says "ready\n"; is a new process in a new session all the time, a few thousand a
//   second echo_process flood             writes for ever echo_process write N           writes N bytes without a
//   newline, then exits 0 echo_process await_signal      says "ready\n", waits for SIGUSR1, prints "usr1\n", exits 0
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

void say(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) ::_exit(9);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

void put(std::string& out, std::string_view key, std::string_view value) {
  out.append(key).append("=").append(value).push_back('\0');
}

std::string signals_with(void (*wanted)(int)) {
  std::string out;
  for (int signo = 1; signo < NSIG; ++signo) {
    struct sigaction action {};
    if (::sigaction(signo, nullptr, &action) == 0 && action.sa_handler == wanted) out += std::to_string(signo) + " ";
  }
  return out;
}

std::string blocked_signals() {
  sigset_t set;
  ::sigprocmask(SIG_BLOCK, nullptr, &set);
  std::string out;
  for (int signo = 1; signo < NSIG; ++signo) {
    if (::sigismember(&set, signo) == 1) out += std::to_string(signo) + " ";
  }
  return out;
}

std::string open_descriptors() {
  std::string out;
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return "?";
  const std::string own = std::to_string(::dirfd(folder));
  for (int fd = 0; fd < 65536; ++fd) {
    if (std::to_string(fd) != own && ::fcntl(fd, F_GETFD) >= 0) out += std::to_string(fd) + " ";
  }
  ::closedir(folder);
  return out;
}

void report(int argc, char** argv, char** environment) {
  std::string out;
  for (int i = 0; i < argc; ++i) put(out, "arg", argv[i]);
  for (char** entry = environment; *entry != nullptr; ++entry) put(out, "env", *entry);
  char directory[4096] = "?";
  put(out, "cwd", ::getcwd(directory, sizeof directory) != nullptr ? directory : std::strerror(errno));
  put(out, "fds", open_descriptors());
  put(out, "ignored", signals_with(SIG_IGN));
  put(out, "blocked", blocked_signals());
  put(out, "leader", ::getpgrp() == ::getpid() ? "yes" : "no");
  put(out, "session", std::to_string(::getsid(0)));
  int death_signal = 0;
  ::prctl(PR_GET_PDEATHSIG, &death_signal);
  put(out, "pdeathsig", std::to_string(death_signal));
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  put(out, "nofile", std::to_string(limit.rlim_cur));
  say(out);
}

[[noreturn]] void sleep_for_ever() {
  for (;;) ::pause();
}

void daemon(bool ignores_term) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::fork() != 0) ::_exit(0);
    ::setsid();
    if (ignores_term) ::signal(SIGTERM, SIG_IGN);
    say(std::to_string(::getpid()) + "\n");
    sleep_for_ever();
  }
}

// Whoever lists processes and kills what he finds comes too late.
[[noreturn]] void run_away() {
  say("ready\n");
  ::close(STDOUT_FILENO);
  for (;;) {
    const pid_t next = ::fork();
    if (next > 0) ::_exit(0);
    if (next == 0) ::setsid();
  }
}

void write_bytes(std::size_t size) {
  const std::string piece(65536, 'x');
  for (; size > 0; size -= std::min(size, piece.size())) say(std::string_view(piece).substr(0, size));
}

}  // namespace

int main(int argc, char** argv, char** environment) {
  const std::string_view what = argc > 1 ? argv[1] : "report";
  const std::string_view more = argc > 2 ? argv[2] : "";
  if (what == "exit") return std::atoi(std::string(more).c_str());
  if (what == "stubborn") {
    ::signal(SIGTERM, SIG_IGN);
    say("ready\n");
    sleep_for_ever();
  }
  if (what == "stopped") {
    say("ready\n");
    ::raise(SIGSTOP);
    sleep_for_ever();
  }
  if (what == "daemon") {
    daemon(more == "term");
    return 0;
  }
  if (what == "daemons") {
    daemon(true);
    sleep_for_ever();
  }
  if (what == "runaway") run_away();
  if (what == "flood") {
    for (;;) write_bytes(std::size_t{1} << 20);
  }
  if (what == "write") {
    write_bytes(std::strtoull(std::string(more).c_str(), nullptr, 10));
    return 0;
  }
  if (what == "await_signal") {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    say("ready\n");
    int signo = 0;
    ::sigwait(&set, &signo);
    say("usr1\n");
    return 0;
  }
  report(argc, argv, environment);
  return 0;
}
