// Properties of a host that its agent determines before an attempt starts. Pure: takes the contents of files, returns
// numbers and texts.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/plan/machine/cpu_topology.h"
#include "common/plan/program/mpi_use.h"

namespace sml::plan {

inline constexpr std::uint64_t kUnlimited = UINT64_MAX;

// A resource limit of the workers (getrlimit(2)).
struct Limit {
  std::uint64_t soft = kUnlimited;
  std::uint64_t hard = kUnlimited;
  void fields(auto& a) { a(soft, hard); }
  bool operator==(const Limit&) const = default;
};

// A file system, identified by a folder in it. Sizes in bytes.
struct Space {
  std::string path;  // empty: there is no such file system
  std::uint64_t size = 0;
  std::uint64_t free = 0;  // available to users other than root
  void fields(auto& a) { a(path, size, free); }
  bool operator==(const Space&) const = default;
};

// Bytes; limited to what the cgroup permits.
struct Memory {
  std::uint64_t total = 0;
  std::uint64_t available = 0;
  void fields(auto& a) { a(total, available); }
  bool operator==(const Memory&) const = default;
};

struct HostFacts {
  std::string system;  // "Debian GNU/Linux 12 (bookworm), Linux 6.1.0-18-amd64 x86_64"
  std::string driver;  // version of the driver of its NVIDIA GPUs: "535.104.05"; empty: none
  std::string user;    // the user that the agent runs as
  // processors that workers may use: read_usable_cores()
  std::uint32_t cores = 0;
  Memory memory;
  std::string device;  // "NVIDIA GPU"; empty: there are no devices
  std::uint32_t devices = 0;
  Limit open_files;
  Limit processes;
  Limit locked_memory;  // bytes
  Space shared_memory;
  Space agent_folder;
  Space working_directory;
  std::vector<std::string> programs;  // the file of each program of this host; empty: not found
  std::vector<MpiFinding> mpi{};      // for each of these programs
  void fields(auto& a) {
    a(system, driver, user, cores, memory, device, devices, open_files, processes, locked_memory, shared_memory,
      agent_folder, working_directory, programs, mpi);
  }
  bool operator==(const HostFacts&) const = default;
};

// Reads /proc/meminfo, and the limits of the cgroups of this process (v2, or v1's "memory").
Memory read_memory(const ReadText& read);

// Returns `allowed`, or the number of processors whose time the cgroups' cpu.max (v2) permits, rounded up, if that is
// less.
std::uint32_t read_usable_cores(const ReadText& read, std::uint32_t allowed);

// PRETTY_NAME of /etc/os-release; empty if there is none.
std::string read_system_name(const ReadText& read);

// The version in /proc/driver/nvidia/version; empty if there is no such driver.
std::string read_nvidia_driver(const ReadText& read);

}  // namespace sml::plan
