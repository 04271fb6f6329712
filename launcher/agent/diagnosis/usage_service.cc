#include "launcher/agent/diagnosis/usage_service.h"

#include <sys/statvfs.h>

#include <memory>
#include <utility>

#include "common/os/small_file.h"
#include "launcher/agent/core/own_clock.h"
#include "launcher/agent/core/waits.h"

namespace sml::agent {

namespace {

constexpr Duration kInterval = std::chrono::seconds(1);
constexpr Duration kSentAtLeast = std::chrono::seconds(10);

}  // namespace

UsageService::UsageService(const ServiceContext& context)
    : context_(context), timer_(context.loop), gpus_(context.loop), disk_thread_(context.loop.get_executor()) {}

Result<void> UsageService::check(wire::Prepared&) {
  accelerators_ = os::accelerators_in("/sys/class/drm");
  wants_gpus_ = has_nvidia_driver();
  return {};
}

void UsageService::start(const wire::Start&) {
  runs_ = true;
  look();
  arm();
}

void UsageService::end() {
  if (!std::exchange(runs_, false)) return;
  timer_.cancel();
  look();
  gpus_.end();
}

void UsageService::handle(const wire::ToAgent& message) {
  if (const auto* asked = std::get_if<wire::AskUse>(&message)) {
    wire::WorkersUse answer{asked->id, {}};
    for (auto& [rank, worker] : workers_) answer.workers.push_back({rank, worker.family.look()});
    context_.send(answer);
  } else if (const auto* space = std::get_if<wire::AskDiskSpace>(&message)) {
    tell_disk_space(space->id);
  }
}

void UsageService::tell_disk_space(std::uint32_t id) {
  if (workers_.empty()) return context_.send(wire::DiskSpace{id});
  if (!std::exchange(disk_answers_, false)) return;
  const auto answer = std::make_shared<wire::DiskSpace>(wire::DiskSpace{id});
  const std::string directory = "/proc/" + std::to_string(workers_.begin()->second.pid) + "/cwd";
  disk_thread_.post(
      [answer, directory] {
        struct statvfs space = {};
        if (::statvfs(directory.c_str(), &space) != 0) return;
        answer->free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
        answer->total_bytes = std::uint64_t{space.f_blocks} * space.f_frsize;
      },
      [this, answer] {
        disk_answers_ = true;
        context_.send(*answer);
      });
}

void UsageService::arm() {
  if (!runs_) return;
  timer_.expires_after(kInterval);
  when_due(timer_, [this] {
    tick();
    arm();
  });
}

// Starts the helper at the first tick only, so that a job that ends within a second does not wait for a library to
// load.
void UsageService::tick() {
  if (std::exchange(wants_gpus_, false)) start_gpus();
  if (!gpus_.ask([this] { look(); })) look();
}

void UsageService::start_gpus() {
  const Result<std::vector<std::string>> warnings = gpus_.start();
  if (!warnings) return;  // NVIDIA's devices are not reported
  for (const std::string& warning : *warnings) context_.warn(warning);
}

void UsageService::look() {
  const TimePoint now = Clock::now();
  HostUse use;
  os::add_memory(use, os::read_small_file("/proc/meminfo"));
  for (const std::string& folder : accelerators_) use.accelerators.push_back(os::use_of(folder));
  for (const AcceleratorUse& gpu : gpus_.devices()) {
    if (use.accelerators.size() < kMostAccelerators) use.accelerators.push_back(gpu);
  }
  if (now - sent_at_ < kSentAtLeast && !differs(use, sent_)) return;
  sent_ = use;
  sent_at_ = now;
  context_.send(wire::HostUsed{nanoseconds(now), std::move(use)});
}

}  // namespace sml::agent
