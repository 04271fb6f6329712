// Any text as /proc/PID/cgroup, and as a group's path: a path that is found is a piece of its line, and those above it
// become shorter until there is none.
#include <cstdint>
#include <string>
#include <string_view>

#include "launcher/agent/os/cgroup.h"
#include "tests/fuzz/require.h"

using namespace sml::os;
using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const std::string_view controller : {"", "memory", "cpuset"}) {
    const auto path = cgroup_path(text, controller);
    if (!path) continue;
    require(path->find('\n') == std::string::npos && text.find(":" + *path) != std::string::npos);
    require(cgroup_path("0:x:/before\n" + text, controller) == path);
  }
  require(cgroup_path(text + "\n0::/mine", "").has_value());
  const auto groups = with_ancestors(text);
  require(!groups.empty() && groups.back().empty() && groups.size() <= size + 1);
  for (std::size_t i = 0; i + 1 < groups.size(); ++i) {
    require(groups[i + 1].size() < groups[i].size() && groups[i].starts_with(groups[i + 1]));
  }
  return 0;
}
