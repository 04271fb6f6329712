// The least that any launcher must do: for each of N children make two pipes, vfork and exec; then read all pipes to
// their end and reap. Everything that a launcher costs beyond this is its own.
//
//   spawn_floor N [PROGRAM]      prints {"n":N,"wall_s":...,"cpu_s":...}
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct Child {
  pid_t pid = -1;
  std::array<int, 2> ends{-1, -1};  // where we read its stdout and stderr
};

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

// Two pipes a child pass the usual soft limit of 1024 descriptors at about 500 children.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) fail("getrlimit");
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) fail("setrlimit");
}

// Apart from its caller, so that no variable of that lives across vfork.
pid_t start(const char* program, int input, int output, int error) {
  const pid_t pid = vfork();
  if (pid != 0) return pid;
  if (dup2(input, 0) == 0 && dup2(output, 1) == 1 && dup2(error, 2) == 2) {
    execl(program, program, nullptr);
  }
  _exit(127);
}

Child start_with_pipes(const char* program, int input) {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  // close-on-exec, or each child would hold the pipes of all earlier ones open
  if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(err.data(), O_CLOEXEC) != 0) fail("pipe2");
  const pid_t pid = start(program, input, out[1], err[1]);
  if (pid < 0) fail("vfork");
  close(out[1]);
  close(err[1]);
  return {pid, {out[0], err[0]}};
}

void read_to_end(int fd) {
  std::array<char, 4096> buffer{};
  while (read(fd, buffer.data(), buffer.size()) > 0) {
  }
  close(fd);
}

bool finish(const Child& child) {
  for (const int fd : child.ends) read_to_end(fd);
  int status = 0;
  return waitpid(child.pid, &status, 0) == child.pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; }

double cpu_seconds() {
  double sum = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    sum += seconds(used.ru_utime) + seconds(used.ru_stime);
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 0;
  if (count < 1 || count > 100000 || argc > 3) {
    std::fputs("usage: spawn_floor N [PROGRAM]\n", stderr);
    return 2;
  }
  const char* program = argc > 2 ? argv[2] : "/bin/true";
  raise_descriptor_limit();
  const auto begin = std::chrono::steady_clock::now();

  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0) fail("/dev/null");
  std::vector<Child> children;
  children.reserve(static_cast<std::size_t>(count));
  for (long i = 0; i < count; ++i) children.push_back(start_with_pipes(program, input));
  bool good = true;
  for (const Child& child : children) good = finish(child) && good;

  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  std::printf("{\"n\":%ld,\"wall_s\":%.6f,\"cpu_s\":%.6f}\n", count, wall.count(), cpu_seconds());
  return good ? 0 : 1;
}
