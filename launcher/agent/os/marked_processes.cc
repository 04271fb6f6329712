#include "launcher/agent/os/marked_processes.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>

#include <dirent.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/os/fd.h"
#include "common/os/small_file.h"

namespace sml::os {

namespace {

// proc(5): state, parent, and 18 fields later the start time; the fields before them end with the last ')'.
constexpr int kFieldsToStart = 18;

// Returns pid 0 if the process is gone or a zombie.
SeenProcess read_process(pid_t pid) {
  const std::string stat = read_small_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t command = stat.rfind(')');
  if (command == std::string::npos || stat.size() < command + 4) return {};
  const char state = stat[command + 2];
  if (state == 'Z' || state == 'X') return {};
  char* at = nullptr;
  SeenProcess out{.pid = pid, .parent = static_cast<pid_t>(std::strtol(stat.c_str() + command + 3, &at, 10))};
  for (int i = 1; i < kFieldsToStart; ++i) std::strtoll(at, &at, 10);
  out.started = std::strtoull(at, nullptr, 10);
  return out;
}

bool is_ours(const std::string& folder) {
  struct stat info {};
  return ::stat(folder.c_str(), &info) == 0 && info.st_uid == ::geteuid();
}

bool has_entry(std::string_view environment, std::string_view entry) {
  for (std::size_t at = environment.find(entry); at != std::string_view::npos; at = environment.find(entry, at + 1)) {
    const std::size_t end = at + entry.size();
    const bool begins = at == 0 || environment[at - 1] == '\0';
    if (begins && (end == environment.size() || environment[end] == '\0')) return true;
  }
  return false;
}

// `pid` and its ancestors.
std::set<pid_t> line_of(std::span<const SeenProcess> all, pid_t pid) {
  std::set<pid_t> out;
  while (pid > 0 && out.insert(pid).second) {
    const auto found = std::find_if(all.begin(), all.end(), [pid](const SeenProcess& p) { return p.pid == pid; });
    if (found == all.end()) break;
    pid = found->parent;
  }
  return out;
}

}  // namespace

std::vector<SeenProcess> look_at_processes(std::string_view entry) {
  std::vector<SeenProcess> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  while (const dirent* name = proc ? ::readdir(proc.get()) : nullptr) {
    char* end = nullptr;
    const long pid = std::strtol(name->d_name, &end, 10);
    if (pid <= 0 || *end != '\0') continue;
    SeenProcess process = read_process(static_cast<pid_t>(pid));
    if (process.pid == 0) continue;
    const std::string folder = "/proc/" + std::to_string(pid);
    process.marked = is_ours(folder) && has_entry(read_small_file(folder + "/environ"), entry);
    out.push_back(process);
  }
  return out;
}

std::vector<SeenProcess> abandoned(std::span<const SeenProcess> all, pid_t self) {
  std::set<pid_t> above = line_of(all, self);
  std::set<pid_t> reapers = above;
  reapers.erase(self);
  reapers.insert(1);
  std::set<pid_t> chosen;
  std::vector<SeenProcess> out;
  // Children may come before their parents: repeats until nothing is added.
  for (bool more = true; std::exchange(more, false);) {
    for (const SeenProcess& process : all) {
      if (above.contains(process.pid) || chosen.contains(process.pid)) continue;
      const bool root = process.marked && reapers.contains(process.parent);
      if (!root && !chosen.contains(process.parent)) continue;
      chosen.insert(process.pid);
      out.push_back(process);
      more = true;
    }
  }
  return out;
}

bool kill_process(const SeenProcess& process) {
  const UniqueFd handle(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0U)));
  // The pidfd may be of a later process with this pid, but refers to the same process from now on: compare the start
  // time.
  if (read_process(process.pid).started != process.started) return false;
  if (handle) {
    if (::syscall(SYS_pidfd_send_signal, handle.get(), SIGKILL, nullptr, 0U) == 0) return true;
    if (errno == ESRCH) return false;
  }
  // The kernel lacks one of the two calls (ENOSYS), or a container forbids it, mostly with EPERM.
  return ::kill(process.pid, SIGKILL) == 0;
}

}  // namespace sml::os
