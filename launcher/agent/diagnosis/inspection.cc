#include "launcher/agent/diagnosis/inspection.h"

#include <array>
#include <cstdlib>

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/os/affinity.h"
#include "common/os/small_file.h"
#include "common/plan/machine/devices.h"
#include "launcher/agent/core/resource_assignment.h"

namespace sml::agent {

namespace {

// A template, as the type of the resource is an enum in C++ with some versions of glibc.
template <class Resource>
plan::Limit limit_of(Resource resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return {};
  const auto number = [](rlim_t value) { return value == RLIM_INFINITY ? plan::kUnlimited : std::uint64_t{value}; };
  return {number(limit.rlim_cur), number(limit.rlim_max)};
}

plan::Space space_of(const std::string& path) {
  struct statvfs info {};
  if (path.empty() || ::statvfs(path.c_str(), &info) != 0) return {};
  return {path, std::uint64_t{info.f_blocks} * info.f_frsize, std::uint64_t{info.f_bavail} * info.f_frsize};
}

// The folder that the agent's file was copied to. If it was not copied (the agent runs from memory or an installation)
// or has been removed, the folder for temporary files.
std::string own_folder() {
  std::array<char, 4096> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  const std::string file(path.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::size_t name = file.rfind('/') + 1;
  if (file.starts_with('/') && file.substr(name).starts_with("agent-") && ::access(file.c_str(), F_OK) == 0) {
    return file.substr(0, name);
  }
  const char* temporary = std::getenv("TMPDIR");
  return temporary != nullptr && *temporary != '\0' ? temporary : "/tmp";
}

std::string user_name() {
  for (const char* variable : {"LOGNAME", "USER"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0') return value;
  }
  return "uid " + std::to_string(::getuid());
}

std::string system_name() {
  std::string name = plan::read_system_name(os::read_small_file);
  utsname kernel{};
  if (::uname(&kernel) != 0) return name;
  return (name.empty() ? "" : name + ", ") + kernel.sysname + " " + kernel.release + " " + kernel.machine;
}

}  // namespace

plan::HostFacts inspect_host(const InspectionSettings& settings) {
  const plan::Devices devices = plan::find_devices(os::read_small_file, list_folder, settings.environment);
  plan::HostFacts facts{
      .system = system_name(),
      .driver = plan::read_nvidia_driver(os::read_small_file),
      .user = user_name(),
      .cores = plan::read_usable_cores(os::read_small_file, static_cast<std::uint32_t>(os::allowed_cpus().size())),
      .memory = plan::read_memory(os::read_small_file),
      .device = std::string(devices.names.empty() ? "" : devices.kind.name),
      .devices = static_cast<std::uint32_t>(devices.names.size()),
      .open_files = limit_of(RLIMIT_NOFILE),
      .processes = limit_of(RLIMIT_NPROC),
      .locked_memory = limit_of(RLIMIT_MEMLOCK),
      .shared_memory = space_of("/dev/shm"),
      .agent_folder = space_of(own_folder()),
      .working_directory = space_of(settings.working_directory),
      .programs = {},
      .mpi = {}};
  facts.open_files.soft = settings.descriptor_limit;  // the agent's own limit has been raised
  return facts;
}

}  // namespace sml::agent
