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

// `reply` keeps its values if `path` cannot be reached.
template <class Reply>
void look_at_space(const std::string& path, Reply& reply) {
  struct statvfs space = {};
  if (::statvfs(path.c_str(), &space) != 0) return;
  reply.free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
  reply.total_bytes = std::uint64_t{space.f_blocks} * space.f_frsize;
}

void look_at_disk(const std::string& worker, wire::DiskSpace& reply) { look_at_space(worker + "/cwd", reply); }

// A worker may be in a container with a /dev/shm of its own.
void look_at_shared_memory(const std::string& worker, wire::SharedMemory& reply) {
  look_at_space(worker + "/root/dev/shm", reply);
}

}  // namespace

UsageService::UsageService(const ServiceContext& context)
    : context_(context), timer_(context.system.loop), gpus_(context.system.loop) {}

Result<void> UsageService::check(wire::Prepared&) {
  accelerators_ = os::accelerators_in("/sys/class/drm");
  return {};
}

void UsageService::start(const wire::Start&) {
  runs_ = true;
  for (const std::string& warning : gpus_.find()) context_.warn(warning);
  look();
  arm();
}

void UsageService::end() {
  if (!std::exchange(runs_, false)) return;
  timer_.cancel();
  look();
  gpus_.end();
}

template <class Reply>
void UsageService::reply_off_loop(const typename Reply::Answers& question,
                                  void (*fill)(const std::string& worker, Reply& reply)) {
  const auto reply = std::make_shared<Reply>();
  reply->id = question.id;
  if (workers_.empty()) return context_.send(*reply);
  const std::string_view name = wire::message_name<Reply>();
  if (!blocked_.insert(name).second) return;
  os::SideThread& thread = threads_.try_emplace(name, context_.system.loop.get_executor()).first->second;
  const std::string worker = "/proc/" + std::to_string(workers_.begin()->second.pid);
  const auto then = [this, name, reply] {
    blocked_.erase(name);
    context_.send(*reply);
  };
  thread.post([reply, worker, fill] { fill(worker, *reply); }, then);
}

void UsageService::handle(const wire::ToAgent& message) {
  if (const auto* asked = std::get_if<wire::AskUse>(&message)) {
    wire::WorkersUse answer{asked->id, {}};
    for (auto& [rank, worker] : workers_) answer.workers.push_back({rank, worker.family.look()});
    context_.send(answer);
  } else if (const auto* disk = std::get_if<wire::AskDiskSpace>(&message)) {
    reply_off_loop(*disk, look_at_disk);
  } else if (const auto* memory = std::get_if<wire::AskSharedMemory>(&message)) {
    reply_off_loop(*memory, look_at_shared_memory);
  }
}

void UsageService::arm() {
  if (!runs_) return;
  timer_.expires_after(kInterval);
  when_due(timer_, lifetime_.guard([this] {
    tick();
    arm();
  }));
}

// The first question comes a second after the start, so that a job that ends before starts no nvidia-smi.
void UsageService::tick() {
  if (!gpus_.ask([this] { look(); })) look();
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
