#include "common/os/oom_watch.h"

#include <charconv>

#include "common/os/small_file.h"

namespace sml::os {

namespace {

// Lines "name value"; the value of `name`, if it is there.
std::optional<std::uint64_t> counter(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ' ') continue;
    std::uint64_t value = 0;
    const std::string_view number = line.substr(name.size() + 1);
    if (std::from_chars(number.data(), number.data() + number.size(), value).ec == std::errc()) return value;
  }
  return std::nullopt;
}

bool lists(std::string_view controllers, std::string_view wanted) {
  while (!controllers.empty()) {
    const std::string_view one = controllers.substr(0, controllers.find(','));
    if (one == wanted) return true;
    controllers.remove_prefix(std::min(one.size() + 1, controllers.size()));
  }
  return false;
}

}  // namespace

// "hierarchy-id:controller,list:/path" (cgroups(7)); v2 has id 0 and no controllers.
std::optional<std::string> cgroup_path(std::string_view proc_cgroup, std::string_view controller) {
  while (!proc_cgroup.empty()) {
    const std::string_view line = proc_cgroup.substr(0, proc_cgroup.find('\n'));
    proc_cgroup.remove_prefix(std::min(line.size() + 1, proc_cgroup.size()));
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool matches = controller.empty() ? controllers.empty() : lists(controllers, controller);
    if (matches) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

OomWatch::OomWatch() {
  const std::string self = read_small_file("/proc/self/cgroup");
  struct Place {
    std::string_view controller;
    const char* mount;
    const char* file;
  };
  for (const Place& place :
       {Place{"", "/sys/fs/cgroup", "/memory.events"}, Place{"", "/sys/fs/cgroup/unified", "/memory.events"},
        Place{"memory", "/sys/fs/cgroup/memory", "/memory.oom_control"}}) {
    const std::optional<std::string> path = cgroup_path(self, place.controller);
    if (!path) continue;
    // Inside a container the path may be that of the machine outside, while the mount shows the container's own root.
    for (const std::string& below : {*path, std::string()}) {
      const std::string file = place.mount + (below == "/" ? std::string() : below) + place.file;
      const std::optional<std::uint64_t> kills = counter(read_small_file(file), "oom_kill");
      if (!kills) continue;
      file_ = file;
      seen_ = *kills;
      return;
    }
  }
}

std::optional<OomWatch::Kills> OomWatch::look() {
  if (file_.empty()) return std::nullopt;
  const std::uint64_t now = counter(read_small_file(file_), "oom_kill").value_or(seen_);
  if (now <= seen_) return std::nullopt;
  Kills kills{
      .count = now - seen_,
      .evidence = "oom_kill in " + file_ + " rose from " + std::to_string(seen_) + " to " + std::to_string(now)};
  seen_ = now;
  return kills;
}

}  // namespace sml::os
