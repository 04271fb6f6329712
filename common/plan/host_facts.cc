#include "common/plan/host_facts.h"

#include <algorithm>
#include <optional>

#include "common/core/text.h"
#include "common/core/text_cursor.h"

namespace sml::plan {

namespace {

std::optional<std::uint64_t> first_number(std::string_view text) {
  return leading_number<std::uint64_t>(trim(text, " \t"));
}

// The text after `key` in the first line that begins with it.
std::optional<std::string_view> after_key(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = take_until(text, '\n');
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return std::nullopt;
}

std::uint64_t kibibytes(std::string_view meminfo, std::string_view key) {
  const auto value = after_key(meminfo, key);
  return value ? first_number(*value).value_or(0) * 1024 : 0;
}

// The folders of the cgroup of this process and of all its parents in the hierarchy, ending with `mount`.
std::vector<std::string> group_folders(const std::string& mount, std::string_view path) {
  constexpr std::size_t kDeepest = 64;
  std::vector<std::string> out;
  while (!path.empty() && out.size() < kDeepest) {
    if (path != "/") out.push_back(mount + std::string(path));
    path = path.substr(0, path.rfind('/'));
  }
  out.push_back(mount);
  return out;
}

std::vector<std::string> own_groups(const ReadText& read) {
  const std::string own = read("/proc/self/cgroup");
  if (const auto path = after_key(own, "0::")) return group_folders("/sys/fs/cgroup", *path);
  return {};
}

void limit_memory(Memory& memory, std::optional<std::uint64_t> limit, std::uint64_t used) {
  if (!limit || *limit >= memory.total) return;
  memory.total = *limit;
  memory.available = std::min(memory.available, *limit - std::min(*limit, used));
}

}  // namespace

Memory read_memory(const ReadText& read) {
  const std::string text = read("/proc/meminfo");
  Memory memory{.total = kibibytes(text, "MemTotal:"), .available = kibibytes(text, "MemAvailable:")};
  memory.available = std::min(memory.available, memory.total);  // emulations of this file may limit only one of the two
  for (const std::string& group : own_groups(read)) {
    // "max": no limit
    limit_memory(memory, first_number(read(group + "/memory.max")),
                 first_number(read(group + "/memory.current")).value_or(0));
  }
  const std::string v1 = "/sys/fs/cgroup/memory/memory.";
  limit_memory(memory, first_number(read(v1 + "limit_in_bytes")),
               first_number(read(v1 + "usage_in_bytes")).value_or(0));
  return memory;
}

std::uint32_t read_usable_cores(const ReadText& read, std::uint32_t allowed) {
  std::uint32_t cores = allowed;
  for (const std::string& group : own_groups(read)) {
    const std::string text = read(group + "/cpu.max");  // "QUOTA PERIOD", in microseconds, or "max PERIOD"
    const auto quota = first_number(text);
    const auto period = first_number(std::string_view(text).substr(std::min(text.find(' '), text.size())));
    if (!quota || !period || *period == 0) continue;
    const std::uint64_t whole = *quota / *period + (*quota % *period > 0 ? 1 : 0);
    cores = static_cast<std::uint32_t>(std::min<std::uint64_t>(cores, std::max<std::uint64_t>(whole, 1)));
  }
  return cores;
}

std::string read_system_name(const ReadText& read) {
  const std::string text = read("/etc/os-release");
  std::string_view name = after_key(text, "PRETTY_NAME=").value_or("");
  if (name.size() >= 2 && (name.front() == '"' || name.front() == '\'') && name.back() == name.front()) {
    name = name.substr(1, name.size() - 2);
  }
  return std::string(name);
}

std::string read_nvidia_driver(const ReadText& read) {
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023"
  const std::string text = read("/proc/driver/nvidia/version");
  std::string_view line = after_key(text, "NVRM version:").value_or("");
  while (!line.empty()) {
    const std::string_view word = take_until(line, ' ');
    const bool version =
        word.find('.') != std::string_view::npos && word.find_first_not_of("0123456789.") == std::string_view::npos;
    if (version) return std::string(word);
  }
  return {};
}

}  // namespace sml::plan
