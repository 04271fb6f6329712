#include "launcher/agent/os/oom_watch.h"

#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "common/os/small_file.h"
#include "launcher/agent/os/cgroup.h"

namespace sml::os {

namespace {

// The value of `name` in lines of "name value"; nullopt if it is missing.
std::optional<std::uint64_t> counter(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (take_until(line, ' ') != name) continue;
    if (const auto value = leading_number<std::uint64_t>(line)) return value;
  }
  return std::nullopt;
}

}  // namespace

OomWatch OomWatch::of_this_process() {
  OomWatch out;
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
    // Inside a container the path may be the one on the host, while the mount shows the container's own root.
    for (const std::string& below : with_ancestors(*path)) {
      const std::string file = place.mount + below + place.file;
      const std::optional<std::uint64_t> kills = counter(read_small_file(file), "oom_kill");
      if (!kills) continue;
      out.file_ = file;
      out.seen_ = *kills;
      return out;
    }
  }
  return out;
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
