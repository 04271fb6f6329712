#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/core/exit_status.h"
#include "common/core/text.h"
#include "common/os/fd.h"
#include "common/os/spawn.h"
#include "common/os/trust.h"
#include "launcher/notify/deliver.h"
#include "launcher/os/leash.h"

namespace sml::notify {

namespace {

constexpr std::size_t kMostComplaint = 4096;
constexpr std::size_t kLongestComplaint = 200;

Result<os::TrustedProgram> program_of(const std::vector<std::string>& command) {
  os::TrustedProgram found = os::find_trusted_program(os::program_candidates(command.front(), os::own_search_path()));
  if (!found.file.empty()) return found;
  if (!found.passed_over.empty()) return Error(ErrorKind::Usage, found.passed_over.front());
  return Error(ErrorKind::Usage, "there is no program " + show(command.front()));
}

std::string last_line_of(std::string_view text) {
  text = trim(text);
  return show(text.substr(text.rfind('\n') + 1), kLongestComplaint);
}

// Keeps the end of what comes.
void take_complaint(int fd, std::string& text) {
  std::array<char, kMostComplaint> bytes;
  const ssize_t n = ::read(fd, bytes.data(), bytes.size());
  if (n > 0) text.append(bytes.data(), static_cast<std::size_t>(n));
  if (text.size() > kMostComplaint) text.erase(0, text.size() - kMostComplaint);
}

bool has_ended(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

// Ends what is left of it; the process is not reaped yet, so its group's id is not used again.
ExitStatus reap(pid_t pid) {
  ::kill(-pid, SIGKILL);
  int raw = 0;
  while (::waitpid(pid, &raw, 0) < 0 && errno == EINTR) continue;
  return WIFSIGNALED(raw) ? ExitStatus(Signaled{WTERMSIG(raw), false}) : ExitStatus(Exited{WEXITSTATUS(raw)});
}

}  // namespace

Result<std::vector<std::string>> check_command(const std::vector<std::string>& command) {
  Result<os::TrustedProgram> program = program_of(command);
  if (!program) return program.error();
  return std::move(program->passed_over);
}

Result<void> run_command(const std::vector<std::string>& command, std::string_view body, Duration limit) {
  constexpr int kLookAgainMs = 20;
  const TimePoint end = Clock::now() + limit;
  const Result<os::TrustedProgram> program = program_of(command);
  if (!program) return program.error();
  Result<os::Pipe> complaints = os::make_pipe();
  if (!complaints) return complaints.error();
  const Result<os::Leash> leash = os::Leash::make(body);
  if (!leash) return leash.error();
  const os::UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  std::vector<std::string> words = command;
  words.front() = program->file;
  const Result<pid_t> pid = os::spawn_helper({.argv = words,
                                              .stdin_fd = leash->input(),
                                              .stdout_fd = nowhere.get(),
                                              .stderr_fd = complaints->write.get(),
                                              .environment = {}});
  if (!pid) return pid.error();
  leash->tie(*pid);
  complaints->write.reset();
  os::set_nonblocking(complaints->read.get());
  std::string text;
  bool in_time = true;
  int pause_ms = 1;
  while (!has_ended(*pid)) {
    if (in_time = Clock::now() < end; !in_time) break;
    pollfd readable{complaints->read.get(), POLLIN, 0};
    ::poll(&readable, 1, kLookAgainMs);
    if ((readable.revents & POLLIN) != 0) take_complaint(complaints->read.get(), text);
    if (readable.revents != POLLHUP) continue;
    ::poll(nullptr, 0, pause_ms);  // its stderr is closed: as a rule it ends at once
    pause_ms = std::min(2 * pause_ms, kLookAgainMs);
  }
  leash->untie();
  const ExitStatus status = reap(*pid);
  if (!in_time) return Error(ErrorKind::Timeout, "has not ended within " + format_duration(limit) + ", and was killed");
  take_complaint(complaints->read.get(), text);
  if (succeeded(status)) return {};
  const std::string complaint = last_line_of(text);
  return Error(ErrorKind::Io, describe(status) + (complaint.empty() ? "" : ": " + complaint));
}

}  // namespace sml::notify
