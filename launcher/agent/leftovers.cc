#include "launcher/agent/leftovers.h"

#include <ctime>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <unistd.h>

#include "common/core/clock.h"
#include "common/os/cgroup.h"
#include "common/os/descendants.h"
#include "common/os/marked_processes.h"
#include "common/os/small_file.h"
#include "launcher/agent/guardian.h"
#include "launcher/agent/scratch_folder.h"

namespace sml::agent {

namespace {

constexpr Duration kDeathPatience = std::chrono::seconds(2);
constexpr Duration kLeftoverPatience = std::chrono::seconds(1);
constexpr timespec kLeftoverLook{.tv_sec = 0, .tv_nsec = 10'000'000};

// By number and name, proc(5): nobody is harmed by a mistake here. A zombie has let go of all that it had.
bool lives(pid_t pid, const std::string& name) {
  const std::string begin = std::to_string(pid) + " (" + name + ") ";
  const std::string stat = os::read_small_file("/proc/" + std::to_string(pid) + "/stat");
  return stat.starts_with(begin) && stat.size() > begin.size() && stat[begin.size()] != 'Z' &&
         stat[begin.size()] != 'X';
}

// A process that is killed dies a little later than it is told to.
bool somebody_lives(const wire::EndLeft& job) {
  return lives(job.pids.agent, "sml-run-agent") || lives(job.pids.guardian, kGuardianName) ||
         lives(job.pids.keeper, kKeeperName);
}

}  // namespace

std::string mark_entry(const std::string& mark) { return "SML_MARK=" + mark; }

Leftovers end_leftovers(const wire::EndLeft& job) {
  for (const TimePoint act = Clock::now() + kDeathPatience; somebody_lives(job) && Clock::now() < act;) {
    ::nanosleep(&kLeftoverLook, nullptr);
  }
  const TimePoint give_up = Clock::now() + kLeftoverPatience;
  const std::string entry = mark_entry(job.mark);
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
    // A worker that was killed before its own execve() holds the group for as long as it takes to die.
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
