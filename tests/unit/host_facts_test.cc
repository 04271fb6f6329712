#include "common/plan/host_facts.h"

#include <map>

#include "tests/support/catch.h"

using namespace sml::plan;

namespace {

using Files = std::map<std::string, std::string>;

ReadText reader(Files files) {
  return [files = std::move(files)](const std::string& path) {
    const auto found = files.find(path);
    return found == files.end() ? std::string() : found->second;
  };
}

constexpr std::uint64_t kGibi = std::uint64_t{1} << 30;
const std::string kMeminfo = "MemTotal:       16777216 kB\nMemFree:  1 kB\nMemAvailable:    8388608 kB\n";

}  // namespace

TEST_CASE("memory is what the machine has") {
  CHECK(read_memory(reader({{"/proc/meminfo", kMeminfo}})) == Memory{16 * kGibi, 8 * kGibi});
  CHECK(read_memory(reader({})) == Memory{0, 0});
  CHECK(read_memory(reader({{"/proc/meminfo", "MemTotal:\nMemAvailable: x kB"}})) == Memory{0, 0});
  CHECK(read_memory(reader({{"/proc/meminfo", "MemTotal: 1048576 kB\nMemAvailable: 2097152 kB\n"}})) ==
        Memory{kGibi, kGibi});
}

TEST_CASE("memory is no more than the tightest cgroup leaves") {
  Files files{{"/proc/meminfo", kMeminfo},
              {"/proc/self/cgroup", "0::/jobs/one\n"},
              {"/sys/fs/cgroup/jobs/one/memory.max", "max\n"},
              {"/sys/fs/cgroup/jobs/memory.max", "4294967296\n"},
              {"/sys/fs/cgroup/jobs/memory.current", "1073741824\n"}};
  CHECK(read_memory(reader(files)) == Memory{4 * kGibi, 3 * kGibi});
  files["/sys/fs/cgroup/jobs/memory.current"] = "9999999999\n";  // more than it may
  CHECK(read_memory(reader(files)) == Memory{4 * kGibi, 0});
  const Files container{{"/proc/meminfo", kMeminfo},
                        {"/proc/self/cgroup", "0::/\n"},
                        {"/sys/fs/cgroup/memory.max", "2147483648\n"},
                        {"/sys/fs/cgroup/memory.current", "0\n"}};
  CHECK(read_memory(reader(container)) == Memory{2 * kGibi, 2 * kGibi});
  const Files v1{{"/proc/meminfo", kMeminfo},
                 {"/proc/self/cgroup", "4:memory:/docker/x\n"},
                 {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n"},
                 {"/sys/fs/cgroup/memory/memory.usage_in_bytes", "536870912\n"}};
  CHECK(read_memory(reader(v1)) == Memory{kGibi, kGibi / 2});
}

TEST_CASE("usable cores are those that are allowed, or the share of a cgroup") {
  CHECK(read_usable_cores(reader({}), 8) == 8);
  const auto with = [](const std::string& max) {
    return reader({{"/proc/self/cgroup", "0::/a\n"}, {"/sys/fs/cgroup/a/cpu.max", max}});
  };
  CHECK(read_usable_cores(with("max 100000\n"), 8) == 8);
  CHECK(read_usable_cores(with("250000 100000\n"), 8) == 3);
  CHECK(read_usable_cores(with("200000 100000\n"), 8) == 2);
  CHECK(read_usable_cores(with("10000 100000\n"), 8) == 1);
  CHECK(read_usable_cores(with("6400000 100000\n"), 8) == 8);
  CHECK(read_usable_cores(with("1 0\n"), 8) == 8);
  CHECK(read_usable_cores(with("nonsense"), 8) == 8);
}

TEST_CASE("names of the system and its driver") {
  CHECK(read_system_name(reader({{"/etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"}})) ==
        "Debian GNU/Linux 12 (bookworm)");
  CHECK(read_system_name(reader({{"/etc/os-release", "PRETTY_NAME=plain"}})) == "plain");
  CHECK(read_system_name(reader({})).empty());
  const std::string version =
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\nGCC version:  gcc\n";
  CHECK(read_nvidia_driver(reader({{"/proc/driver/nvidia/version", version}})) == "535.104.05");
  CHECK(read_nvidia_driver(reader({{"/proc/driver/nvidia/version", "NVRM version: none"}})).empty());
  CHECK(read_nvidia_driver(reader({})).empty());
}
