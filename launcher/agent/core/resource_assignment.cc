#include "launcher/agent/core/resource_assignment.h"

#include <algorithm>

#include <dirent.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "common/os/small_file.h"

namespace sml::agent {

namespace {

constexpr const char* kThreads = "OMP_NUM_THREADS";

os::MemoryMode mode_of(plan::MemoryPolicy policy) {
  switch (policy) {
    case plan::MemoryPolicy::None: return os::MemoryMode::Default;
    case plan::MemoryPolicy::Bind: return os::MemoryMode::Bind;
    case plan::MemoryPolicy::Prefer: return os::MemoryMode::Prefer;
    case plan::MemoryPolicy::Interleave: return os::MemoryMode::Interleave;
  }
  return os::MemoryMode::Default;
}

// Notes what the kernel refuses, and returns the mode that remains possible.
os::MemoryMode allowed_mode(const plan::BindingRequest& wanted, plan::Bindings& bindings) {
  const os::MemoryMode mode = mode_of(wanted.memory);
  for (const plan::WorkerCpus& worker : bindings.workers) {
    const int refused = os::memory_mode_refused(worker.numa_nodes, mode);
    if (refused == 0) continue;
    bindings.impossible.push_back("the memory of the workers cannot be bound: " + errno_text(refused));
    return os::MemoryMode::Default;
  }
  return mode;
}

// How a worker sets its priority, whatever its processors are.
os::KernelCalls priority_calls(const plan::BindingRequest& wanted) {
  os::KernelCalls out;
  if (wanted.nice > 0) {
    const long niceness = ::getpriority(PRIO_PROCESS, 0) + static_cast<long>(wanted.nice);
    out.push_back({SYS_setpriority, {{PRIO_PROCESS}, {0}, {niceness}}});
  }
  if (wanted.io_priority > 0) {
    constexpr long kProcess = 1;  // IOPRIO_WHO_PROCESS
    out.push_back({SYS_ioprio_set, {{kProcess}, {0}, {static_cast<long>(wanted.io_priority)}}});
  }
  return out;
}

bool wants_binding(const plan::BindingRequest& wanted, std::span<const std::string> cores) {
  const bool by_rankfile =
      std::any_of(cores.begin(), cores.end(), [](const std::string& text) { return !text.empty(); });
  return by_rankfile || asks_for_binding(wanted);
}

void set_threads(const ShareRequest& request, std::size_t threads, ResourceAssignment& out) {
  if (threads == 0 || plan::find_variable(request.composed, kThreads) != nullptr) return;
  out.variables.push_back(std::string(kThreads) + "=" + std::to_string(threads));
}

// Each worker's share of processors that all use together; 0 for a single worker, which may use as many threads as it
// likes.
std::size_t common_share(std::size_t workers) {
  return workers > 1 ? std::max<std::size_t>(1, os::allowed_cpus().size() / workers) : 0;
}

void bind(const plan::BindingRequest& wanted, std::span<const ShareRequest> requests, ResourceAssignments& out) {
  const std::size_t common = common_share(requests.size());
  std::vector<std::string> cores;
  for (const ShareRequest& request : requests) cores.push_back(request.worker.cores);
  if (!wants_binding(wanted, cores)) {
    for (std::size_t i = 0; i < requests.size(); ++i) set_threads(requests[i], common, out.workers[i]);
    return;
  }
  const plan::CpuTopology topology = plan::read_cpu_topology(os::read_small_file);
  plan::Bindings bindings = plan::bind_workers(topology, os::allowed_cpus(), cores, wanted);
  const os::MemoryMode mode = allowed_mode(wanted, bindings);
  const os::KernelCalls priority = priority_calls(wanted);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    plan::WorkerCpus& cpus = bindings.workers[i];
    os::KernelCalls& settings = out.workers[i].settings;
    settings = os::binding_calls(cpus.cpus, cpus.numa_nodes, mode);
    settings.insert(settings.end(), priority.begin(), priority.end());
    out.workers[i].words = std::move(cpus.words);
    out.workers[i].cpus = plan::cpu_list_text(cpus.cpus);
    out.workers[i].locality = plan::locality_text(topology, cpus.cpus);
    set_threads(requests[i], cpus.threads > 0 ? cpus.threads : common, out.workers[i]);
  }
  if (wanted.on_impossible == plan::OnImpossible::Ignore) return;
  if (wanted.on_impossible == plan::OnImpossible::Warn) {
    out.warnings = std::move(bindings.impossible);
    return;
  }
  for (std::string& why : bindings.impossible) {
    out.errors.push_back(Error(ErrorKind::Spawn, std::move(why)).with_hint("--bind-strict asks for that"));
  }
}

void give_devices(const plan::DeviceRequest& wanted, std::span<const ShareRequest> requests, ResourceAssignments& out) {
  if (wanted.visible == plan::VisibleDevices::All) return;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    // The worker's own variables may list the devices that were chosen by number.
    plan::Environment environment = requests[i].composed;
    const plan::Environment& own = requests[i].worker.environment;
    environment.insert(environment.end(), own.begin(), own.end());
    const plan::Devices devices = plan::find_devices(os::read_small_file, list_folder, environment);
    const Result<plan::Environment> variables =
        plan::device_variables(wanted, devices, requests[i].worker.local_rank.value());
    if (!variables) {
      out.errors.push_back(variables.error());
      return;  // it would fail for the following workers too
    }
    out.workers[i].variables.insert(out.workers[i].variables.end(), variables->begin(), variables->end());
  }
}

}  // namespace

bool asks_for_binding(const plan::BindingRequest& wanted) {
  return wanted.bind_to != plan::BindTo::None || wanted.cores_per_rank > 0 || !wanted.cores.empty() ||
         wanted.memory != plan::MemoryPolicy::None || !priority_calls(wanted).empty();
}

std::vector<std::string> list_folder(const std::string& path) {
  std::vector<std::string> out;
  DIR* folder = ::opendir(path.c_str());
  if (folder == nullptr) return out;
  while (const dirent* entry = ::readdir(folder)) out.emplace_back(entry->d_name);
  ::closedir(folder);
  return out;
}

ResourceAssignments share_out(const plan::BindingRequest& binding, const plan::DeviceRequest& devices,
                              std::span<const ShareRequest> requests) {
  ResourceAssignments out;
  if (requests.empty()) return out;
  out.workers.resize(requests.size());
  bind(binding, requests, out);
  give_devices(devices, requests, out);
  return out;
}

}  // namespace sml::agent
