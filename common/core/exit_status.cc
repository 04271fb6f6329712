#include "common/core/exit_status.h"

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "common/core/error.h"

namespace sml {

namespace {
template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;  // Clang 14 does not deduce this by itself

std::string_view step_name(SpawnStep step) {
  switch (step) {
    case SpawnStep::Pipe: return "cannot make its pipes";
    case SpawnStep::Fork: return "cannot make a process";
    case SpawnStep::Directory: return "cannot enter the working directory";
    case SpawnStep::Limits: return "cannot set its limits";
    case SpawnStep::Exec: return "cannot execute the program";
    case SpawnStep::Binding: return "cannot bind it to its processors";
  }
  return "cannot start";
}

std::string describe_start(const SpawnFailed& failed) {
  std::string why = errno_text(failed.sys_errno);
  if (failed.step == SpawnStep::Exec && failed.sys_errno == ENOEXEC)
    why = "it has no \"#!\" line, or is for another processor";
  if (failed.step == SpawnStep::Fork && failed.sys_errno == EAGAIN)
    why += " (ulimit -u or the pids limit of its cgroup is reached)";
  return std::string(step_name(failed.step)) + ": " + why;
}

int spawn_exit_code(const SpawnFailed& failed) {
  if (failed.step != SpawnStep::Exec) return 125;
  return failed.sys_errno == ENOENT || failed.sys_errno == ENOTDIR ? 127 : 126;
}
}  // namespace

bool succeeded(const ExitStatus& status) {
  const auto* exited = std::get_if<Exited>(&status);
  return exited != nullptr && exited->code == 0;
}

int exit_code_of(const ExitStatus& status) {
  return std::visit(
      Overloaded{[](const Exited& e) { return e.code; }, [](const Signaled& s) { return 128 + s.signo; },
                 [](const SpawnFailed& f) { return spawn_exit_code(f); }, [](const Lost&) { return 125; }},
      status);
}

std::string signal_name(int signo) {
  const char* abbreviation = ::sigabbrev_np(signo);
  return abbreviation != nullptr ? std::string("SIG") + abbreviation : "signal " + std::to_string(signo);
}

std::optional<int> signal_number(std::string_view text) {
  if (text.starts_with("SIG")) text.remove_prefix(3);
  for (int signo = 1; signo < NSIG; ++signo) {
    const char* abbreviation = ::sigabbrev_np(signo);
    if (text == std::to_string(signo) || (abbreviation != nullptr && text == abbreviation)) return signo;
  }
  return std::nullopt;
}

std::string describe(const ExitStatus& status) {
  return std::visit(Overloaded{[](const Exited& e) { return "exited with status " + std::to_string(e.code); },
                               [](const Signaled& s) {
                                 std::string text = "was killed by " + signal_name(s.signo);
                                 if (const char* words = ::sigdescr_np(s.signo)) {
                                   text += " (";
                                   text += static_cast<char>(std::tolower(static_cast<unsigned char>(words[0])));
                                   text += words + 1;
                                   text += ")";
                                 }
                                 return text + (s.core_dumped ? ", core dumped" : "");
                               },
                               [](const SpawnFailed& f) { return describe_start(f); },
                               [](const Lost& l) { return "lost: " + l.why; }},
                    status);
}

}  // namespace sml
