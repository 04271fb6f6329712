#include "launcher/os/tool_output.h"

#include <array>
#include <cerrno>
#include <chrono>

#include <poll.h>
#include <signal.h>
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

}  // namespace

ToolOutput output_of_tool(const std::vector<std::string>& argv, std::span<const std::string> environment) {
  TrustedProgram found = find_trusted_program(program_candidates(argv.front(), environment));
  ToolOutput out{.text = {}, .passed_over = std::move(found.passed_over)};
  if (found.file.empty()) return out;
  Result<Pipe> pipe = make_pipe();
  const Result<Leash> leash = Leash::make();
  const Result<UniqueFd> null = open_dev_null();
  if (!pipe || !leash || !null) return out;
  std::vector<std::string> words = argv;
  words.front() = std::move(found.file);
  const Result<pid_t> pid = spawn_helper(
      {.argv = std::move(words), .stdin_fd = leash->input(), .stdout_fd = pipe->write.get(), .stderr_fd = null->get()});
  pipe->write.reset();
  if (!pid) return out;
  leash->tie(*pid);
  out.text = read_for_a_while(pipe->read.get());
  ::kill(-*pid, SIGKILL);  // its output has ended or has timed out: no process of it may stay in either case
  while (::waitpid(*pid, nullptr, 0) < 0 && errno == EINTR) continue;
  return out;
}

}  // namespace sml::os
