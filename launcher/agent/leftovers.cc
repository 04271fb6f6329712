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
#include "launcher/agent/scratch_folder.h"

namespace sml::agent {

namespace {

constexpr Duration kLeftoverPatience = std::chrono::seconds(3);
constexpr timespec kLeftoverLook{.tv_sec = 0, .tv_nsec = 10'000'000};

// By number and name: nobody is harmed by a mistake here.
bool agent_lives(pid_t pid) {
  return pid > 0 && os::read_small_file("/proc/" + std::to_string(pid) + "/comm") == "sml-run-agent\n";
}

}  // namespace

std::string mark_entry(const std::string& mark) { return "SML_MARK=" + mark; }

Leftovers end_leftovers(const wire::EndLeft& job) {
  const TimePoint give_up = Clock::now() + kLeftoverPatience;
  const std::string entry = mark_entry(job.mark);
  std::set<pid_t> ended;
  std::vector<os::SeenProcess> left;
  std::optional<os::Cgroup> group;
  for (;; ::nanosleep(&kLeftoverLook, nullptr)) {
    const bool over = Clock::now() >= give_up;
    if (agent_lives(job.agent) && !over) continue;
    if (!group) {
      if (auto taken = os::Cgroup::take_over(job.cgroup)) group.emplace(std::move(*taken));
    }
    const bool populated = group && group->populated();
    if (populated) {
      for (const pid_t pid : group->processes()) ended.insert(pid);
      group->kill();
    }
    left = os::abandoned(os::look_at_processes(entry), ::getpid());
    if ((left.empty() && !populated) || over) break;
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
