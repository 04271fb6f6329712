#include "common/os/process_settings.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <sys/resource.h>
#include <sys/stat.h>

#include "common/core/text.h"
#include "common/os/small_file.h"

namespace sml::os {

namespace {

struct Resource {
  int number;
  std::string_view option;  // of ulimit
  std::string_view name;
};
constexpr std::array<Resource, 10> kResources{{{RLIMIT_CPU, "-t", "processor time"},
                                               {RLIMIT_FSIZE, "-f", "file size"},
                                               {RLIMIT_DATA, "-d", "data size"},
                                               {RLIMIT_STACK, "-s", "stack size"},
                                               {RLIMIT_CORE, "-c", "core file size"},
                                               {RLIMIT_RSS, "-m", "resident memory"},
                                               {RLIMIT_NPROC, "-u", "processes"},
                                               {RLIMIT_NOFILE, "-n", "open files"},
                                               {RLIMIT_MEMLOCK, "-l", "locked memory"},
                                               {RLIMIT_AS, "-v", "address space"}}};

std::uint64_t soft(int resource) {
  rlimit limit{};
  return ::getrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0 ? limit.rlim_cur : kNoLimit;
}

std::string in_words(rlim_t value) { return value == RLIM_INFINITY ? "unlimited" : std::to_string(value); }

// Returns the resulting soft limit, which is less than `value` if the hard limit allows no more.
rlim_t raise(int number, rlim_t value) {
  const auto resource = static_cast<__rlimit_resource>(number);
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return value;
  const rlimit wanted{value, value > limit.rlim_max ? value : limit.rlim_max};
  if (::setrlimit(resource, &wanted) == 0) return value;
  const rlimit least{value > limit.rlim_max ? limit.rlim_max : value, limit.rlim_max};
  return ::setrlimit(resource, &least) == 0 ? least.rlim_cur : limit.rlim_cur;
}

}  // namespace

ProcessSettings process_settings() {
  ProcessSettings out;
  for (const Resource& resource : kResources) out.limits.push_back({resource.number, soft(resource.number)});
  if (const std::optional<std::uint32_t> told = umask_in(read_small_file("/proc/self/status"))) {
    out.umask = *told;
    return out;
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  out.umask = mask;
  return out;
}

std::optional<std::uint32_t> umask_in(std::string_view status) {
  constexpr std::string_view kName = "\nUmask:\t";
  const std::size_t at = status.find(kName);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = status.substr(at + kName.size());
  return parse_number<std::uint32_t>(take_until(rest, '\n'), 8);
}

std::vector<std::string> apply_settings(const ProcessSettings& settings, unsigned long& open_files) {
  std::vector<std::string> out;
  for (const SoftLimit& wanted : settings.limits) {
    const auto is_it = [&wanted](const Resource& resource) { return resource.number == wanted.resource; };
    const auto* resource = std::find_if(kResources.begin(), kResources.end(), is_it);
    if (resource == kResources.end()) continue;
    const rlim_t now = raise(resource->number, wanted.value);
    if (resource->number == RLIMIT_NOFILE) {
      open_files = now;
      raise(RLIMIT_NOFILE, RLIM_INFINITY);  // this process keeps the highest limit for itself
    }
    if (now >= wanted.value) continue;
    out.push_back("workers have no more than " + in_words(now) + " of the job's " + in_words(wanted.value) + " for " +
                  std::string(resource->name) + " (ulimit " + std::string(resource->option) +
                  "), which is the hard limit there");
  }
  if (settings.umask != kOwnUmask) ::umask(static_cast<mode_t>(settings.umask & 0777));
  return out;
}

ReportedLimits telling_limits(unsigned long open_files) {
  return {.open_files = open_files, .stack = soft(RLIMIT_STACK), .locked_memory = soft(RLIMIT_MEMLOCK)};
}

}  // namespace sml::os
