#include "launcher/agent/core/leftovers.h"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <unistd.h>

#include "common/core/clock.h"
#include "common/os/descendants.h"
#include "common/os/small_file.h"
#include "launcher/agent/core/scratch_folder.h"
#include "launcher/agent/os/cgroup.h"
#include "launcher/agent/os/marked_processes.h"

namespace sml::agent {

namespace {

constexpr Duration kDeathTimeout = std::chrono::seconds(2);
constexpr Duration kLeftoverTimeout = std::chrono::seconds(1);
constexpr timespec kLeftoverLook{.tv_sec = 0, .tv_nsec = 10'000'000};

// The agent and whoever guards it: they were started with that word, which a fork keeps. Not we, of whom one may be
// such a guardian.
std::vector<pid_t> those_in_charge(const std::vector<os::SeenProcess>& all, const std::string& mark) {
  using namespace std::string_literals;
  const std::string words = "\0--mark\0"s + mark + "\0"s;
  std::vector<pid_t> out;
  for (const os::SeenProcess& process : all) {
    if (process.pid == ::getpid()) continue;
    const std::string command = os::read_small_file("/proc/" + std::to_string(process.pid) + "/cmdline");
    if (command.find(words) != std::string::npos) out.push_back(process.pid);
  }
  return out;
}

// A process dies a little later than the signal that kills it.
bool somebody_is_in_charge(const std::vector<os::SeenProcess>& all, const std::string& mark) {
  const std::vector<pid_t> them = those_in_charge(all, mark);
  if (std::all_of(them.begin(), them.end(), os::is_stopped)) {
    for (const pid_t pid : them) ::kill(pid, SIGKILL);
  }
  return !them.empty();
}

}  // namespace

std::string mark_entry(const std::string& mark) { return "SML_MARK=" + mark; }

Leftovers end_leftovers(const wire::EndLeft& job) {
  const std::string entry = mark_entry(job.mark);
  const TimePoint act = Clock::now() + kDeathTimeout;
  while (somebody_is_in_charge(os::look_at_processes(entry), job.mark) && Clock::now() < act) {
    ::nanosleep(&kLeftoverLook, nullptr);
  }
  const TimePoint give_up = Clock::now() + kLeftoverTimeout;
  std::set<pid_t> ended;
  std::vector<os::SeenProcess> left;
  std::optional<os::Cgroup> group;
  for (;; ::nanosleep(&kLeftoverLook, nullptr)) {
    if (!group) {
      if (auto taken = os::Cgroup::take_over(job.cgroup)) group.emplace(std::move(*taken));
    }
    const bool populated = group && group->populated();
    if (populated) {
      for (const pid_t pid : group->processes()) ended.insert(pid);
      group->kill();
    }
    left = os::abandoned(os::look_at_processes(entry), ::getpid());
    // A worker that was killed before its own execve() keeps the cgroup alive until it is dead.
    const bool held = !group && os::Cgroup::exists(job.cgroup);
    if ((left.empty() && !populated && !held) || Clock::now() >= give_up) break;
    for (const os::SeenProcess& process : left) {
      if (os::kill_process(process)) ended.insert(process.pid);
    }
  }
  remove_scratch_folder(job.scratch);
  Leftovers out{.ended = static_cast<std::uint32_t>(ended.size()), .left = {}};
  for (const os::SeenProcess& process : left) out.left.push_back(os::describe_process(process.pid));
  return out;
}

}  // namespace sml::agent
