#include "launcher/os/tool_output.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <optional>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/core/clock.h"
#include "common/os/fd.h"
#include "common/os/spawn.h"
#include "common/os/trust.h"
#include "launcher/os/leash.h"

namespace sml::os {

namespace {

using namespace std::chrono_literals;

constexpr auto kToolLimit = 5s;
constexpr std::size_t kToolOutput = 1 << 20;

// Reads the pipe until its end, the time limit or the size limit.
std::string read_for_a_while(int fd) {
  const TimePoint end = Clock::now() + kToolLimit;
  std::string text;
  std::array<char, 65536> buffer;
  while (text.size() < kToolOutput) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd event{fd, POLLIN, 0};
    const int ready = left > 0 ? ::poll(&event, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return text;
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

// posix_spawn() takes pointers to non-const char for historical reasons; it changes nothing.
std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

// A tool with its stdout on `out` and its stderr on /dev/null, in a process group of its own. No shell.
std::optional<pid_t> start_tool(const std::string& file, const std::vector<std::string>& words, int in, int out) {
  const std::vector<char*> argv = pointers(words);
  std::vector<std::string> environment = own_environment();
  keep_trusted_path(environment);
  const std::vector<char*> variables = pointers(environment);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, file.c_str(), &actions, &attributes, argv.data(), variables.data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? std::optional<pid_t>(pid) : std::nullopt;
}

}  // namespace

ToolOutput output_of_tool(const std::vector<std::string>& argv, std::span<const std::string> environment) {
  TrustedProgram found = find_trusted_program(program_candidates(argv.front(), environment));
  ToolOutput out{.text = {}, .passed_over = std::move(found.passed_over)};
  if (found.file.empty()) return out;
  Result<Pipe> pipe = make_pipe();
  const Result<Leash> leash = Leash::make();
  if (!pipe || !leash) return out;
  const std::optional<pid_t> pid = start_tool(found.file, argv, leash->input(), pipe->write.get());
  pipe->write.reset();
  if (!pid) return out;
  leash->tie(*pid);
  out.text = read_for_a_while(pipe->read.get());
  ::kill(-*pid, SIGKILL);  // its output has ended or has timed out: no process of it may stay in either case
  while (::waitpid(*pid, nullptr, 0) < 0 && errno == EINTR) continue;
  return out;
}

}  // namespace sml::os
