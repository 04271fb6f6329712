#include "launcher/agent/os/host_use.h"

#include <algorithm>

#include <dirent.h>
#include <unistd.h>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "common/os/descendants.h"
#include "common/os/small_file.h"
#include "launcher/agent/os/process_stat.h"

namespace sml::os {

namespace {

std::optional<std::uint64_t> number_in(std::string_view text) { return leading_number<std::uint64_t>(trim(text, " ")); }

// "MemTotal:       65536 kB"
std::optional<std::uint64_t> bytes_of(std::string_view name, std::string_view meminfo) {
  const std::size_t at = meminfo.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  const std::optional<std::uint64_t> kilobytes = number_in(meminfo.substr(at + name.size()));
  return kilobytes ? std::optional(*kilobytes * 1024) : std::nullopt;
}

std::uint64_t number_of(const std::string& file) { return number_in(read_small_file(file)).value_or(0); }

// "card0", but not its connectors "card0-DP-1".
bool is_card(std::string_view name) { return name.starts_with("card") && all_digits(name.substr(4)); }

// The sum of all its threads; nullopt if the process is gone or the kernel does not report it.
std::optional<timespec> processor_time(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  const bool told = ::clock_getcpuclockid(pid, &clock) == 0 && ::clock_gettime(clock, &time) == 0;
  return told ? std::optional(time) : std::nullopt;
}

}  // namespace

void add_memory(HostUse& use, std::string_view meminfo) {
  const std::optional<std::uint64_t> total = bytes_of("MemTotal:", meminfo);
  const std::optional<std::uint64_t> available = bytes_of("MemAvailable:", meminfo);
  if (!total || !available) return;
  use.memory_total = *total;
  use.memory_used = *total - std::min(*available, *total);
}

std::vector<std::string> accelerators_in(const std::string& drm) {
  std::vector<std::string> out;
  DIR* list = ::opendir(drm.c_str());
  if (list == nullptr) return out;
  while (const dirent* entry = ::readdir(list)) {
    const std::string folder = drm + "/" + entry->d_name;
    const bool tells = is_card(entry->d_name) && number_in(read_small_file(folder + "/device/gpu_busy_percent"));
    if (tells && out.size() < kMostAccelerators) out.push_back(folder);
  }
  ::closedir(list);
  std::sort(out.begin(), out.end());
  return out;
}

AcceleratorUse use_of(const std::string& folder) {
  const std::string device = folder + "/device/";
  return {
      .name = folder.substr(folder.rfind('/') + 1),
      .busy_percent = static_cast<std::uint8_t>(std::min<std::uint64_t>(number_of(device + "gpu_busy_percent"), 100)),
      .memory_used = number_of(device + "mem_info_vram_used"),
      .memory_total = number_of(device + "mem_info_vram_total")};
}

ProcessUse FamilyUse::look() {
  constexpr std::size_t kMost = 4096;
  const std::optional<timespec> ran = processor_time(pid_);  // before the files are read, which may find more
  if (ran && ran_ && ran->tv_sec == ran_->tv_sec && ran->tv_nsec == ran_->tv_nsec) return last_;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  last_ = {};
  std::uint64_t ticks = 0;
  for (const pid_t one : family_of(pid_, kMost)) {
    const ProcessStat stat = process_stat("/proc/" + std::to_string(one));
    if (stat.state == 0) continue;
    ++last_.processes;
    ticks += stat.ticks + stat.children;
    last_.memory += stat.pages * page;
  }
  last_.cpu_ms = milliseconds_of(ticks);
  ran_ = last_.processes == 1 ? ran : std::nullopt;
  return last_;
}

}  // namespace sml::os
