#include "common/os/descendants.h"

#include <cerrno>
#include <cstdlib>
#include <map>
#include <optional>

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/os/small_file.h"

namespace sml::os {

namespace {

// The text after the command in /proc/PID/stat: " S 1 ..." (state, parent, ...). Empty if the process is gone.
std::string stat_fields(const std::string& pid) {
  const std::string stat = read_small_file("/proc/" + pid + "/stat");
  const std::size_t end = stat.rfind(')');
  return end == std::string::npos ? std::string() : stat.substr(end + 1);
}

// From "Uid:  real effective saved of-files" in /proc/PID/status; nullopt if the process is gone.
std::optional<uid_t> effective_user(pid_t pid) {
  const std::string status = read_small_file("/proc/" + std::to_string(pid) + "/status");
  const std::size_t at = status.find("\nUid:");
  if (at == std::string::npos) return std::nullopt;
  char* end = nullptr;
  std::strtoul(status.c_str() + at + 5, &end, 10);
  return static_cast<uid_t>(std::strtoul(end, nullptr, 10));
}

std::multimap<pid_t, pid_t> children_by_parent() {
  std::multimap<pid_t, pid_t> out;
  DIR* proc = ::opendir("/proc");
  if (proc == nullptr) return out;
  while (const dirent* entry = ::readdir(proc)) {
    char* end = nullptr;
    const long pid = std::strtol(entry->d_name, &end, 10);
    if (pid <= 0 || *end != '\0') continue;
    const std::string fields = stat_fields(entry->d_name);
    if (fields.size() > 3) out.emplace(std::strtol(fields.c_str() + 3, nullptr, 10), pid);
  }
  ::closedir(proc);
  return out;
}

// For kernels without /proc/PID/task/TID/children.
std::vector<pid_t> children_by_scan() {
  const std::multimap<pid_t, pid_t> families = children_by_parent();
  std::vector<pid_t> out;
  const auto [first, last] = families.equal_range(::getpid());
  for (auto i = first; i != last; ++i) out.push_back(i->second);
  return out;
}

// waitid() reports ECHILD if there are no children; that is much cheaper than a look at /proc.
bool has_children() {
  siginfo_t news{};
  return ::waitid(P_ALL, 0, &news, WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

ExitStatus status_of(int raw) {
  if (WIFSIGNALED(raw)) return Signaled{WTERMSIG(raw), WCOREDUMP(raw) != 0};
  return Exited{WEXITSTATUS(raw)};
}

Usage usage_of(const rusage& used) {
  constexpr std::uint64_t kBlock = 512;  // of ru_inblock and ru_oublock, whatever the file system's block size
  const auto count = [](long number) { return static_cast<std::uint64_t>(number < 0 ? 0 : number); };
  const auto microseconds = [&](const timeval& time) { return count(time.tv_sec) * 1'000'000 + count(time.tv_usec); };
  return {.user_us = microseconds(used.ru_utime),
          .system_us = microseconds(used.ru_stime),
          .peak_memory = count(used.ru_maxrss) * 1024,
          .read = count(used.ru_inblock) * kBlock,
          .written = count(used.ru_oublock) * kBlock};
}

}  // namespace

bool become_subreaper() { return ::prctl(PR_SET_CHILD_SUBREAPER, 1L) == 0; }

std::vector<pid_t> children_of(pid_t pid) {
  const std::string number = std::to_string(pid);
  const std::string text = read_small_file("/proc/" + number + "/task/" + number + "/children");
  std::vector<pid_t> out;
  const char* at = text.c_str();
  for (char* end = nullptr;; at = end) {
    const long child = std::strtol(at, &end, 10);
    if (end == at) break;
    out.push_back(static_cast<pid_t>(child));
  }
  return out;
}

std::vector<pid_t> family_of(pid_t pid, std::size_t most) {
  std::vector<pid_t> out{pid};
  for (std::size_t i = 0; i < out.size() && out.size() < most; ++i) {
    const std::vector<pid_t> children = children_of(out[i]);
    out.insert(out.end(), children.begin(), children.end());
  }
  return out;
}

std::vector<pid_t> children() {
  if (!has_children()) return {};
  const std::string path = "/proc/self/task/" + std::to_string(::getpid()) + "/children";  // one thread, so one list
  return ::access(path.c_str(), R_OK) == 0 ? children_of(::getpid()) : children_by_scan();
}

bool is_stopped(pid_t pid) {
  const std::string fields = stat_fields(std::to_string(pid));
  return fields.size() > 1 && fields[1] == 'T';
}

std::set<uid_t> users_of_descendants() {
  const std::multimap<pid_t, pid_t> families = children_by_parent();
  std::set<uid_t> out;
  std::vector<pid_t> todo{::getpid()};
  while (!todo.empty()) {
    const auto [first, last] = families.equal_range(todo.back());
    todo.pop_back();
    for (auto i = first; i != last; ++i) {
      todo.push_back(i->second);
      if (const std::optional<uid_t> user = effective_user(i->second)) out.insert(*user);
    }
  }
  return out;
}

void reap_children(const std::function<void(pid_t, const ExitStatus&, const Usage&)>& ended) {
  for (;;) {
    int raw = 0;
    rusage used{};
    const pid_t pid = ::wait4(-1, &raw, WNOHANG, &used);
    if (pid > 0) {
      ended(pid, status_of(raw), usage_of(used));
    } else if (pid == 0 || errno != EINTR) {
      return;
    }
  }
}

std::string describe_process(pid_t pid) {
  const std::string number = std::to_string(pid);
  std::string name = read_small_file("/proc/" + number + "/comm");
  while (!name.empty() && name.back() == '\n') name.pop_back();
  const std::string fields = stat_fields(number);
  std::string text = "pid " + number + " (" + name + ")";
  if (fields.size() > 1) text += std::string(", state ") + fields[1];
  const std::string wait_channel = read_small_file("/proc/" + number + "/wchan");
  if (!wait_channel.empty() && wait_channel != "0") text += ", in " + wait_channel;
  return text;
}

}  // namespace sml::os
