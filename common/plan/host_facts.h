// What a host is like, as its agent finds it before a job. Pure: the contents of files in, numbers out.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/plan/cpu_topology.h"
#include "common/plan/mpi_use.h"

namespace sml::plan {

inline constexpr std::uint64_t kUnlimited = UINT64_MAX;

// A resource limit of the workers (getrlimit(2)).
struct Limit {
  std::uint64_t soft = kUnlimited;
  std::uint64_t hard = kUnlimited;
  void fields(auto& a) { a(soft, hard); }
  bool operator==(const Limit&) const = default;
};

// A file system, by a folder in it. Bytes.
struct Space {
  std::string path;  // empty: there is none
  std::uint64_t size = 0;
  std::uint64_t free = 0;  // for those who are not root
  void fields(auto& a) { a(path, size, free); }
  bool operator==(const Space&) const = default;
};

// Bytes; what a cgroup leaves of the machine's.
struct Memory {
  std::uint64_t total = 0;
  std::uint64_t available = 0;
  void fields(auto& a) { a(total, available); }
  bool operator==(const Memory&) const = default;
};

struct HostFacts {
  std::string system;  // "Debian GNU/Linux 12 (bookworm), Linux 6.1.0-18-amd64 x86_64"
  std::string driver;  // of its NVIDIA GPUs: "535.104.05"; empty: none
  std::string user;    // whom the agent runs as
  std::uint32_t cores = 0;
  Memory memory;
  std::string device;  // "NVIDIA GPU"; empty: there are none
  std::uint32_t devices = 0;
  Limit open_files;
  Limit processes;
  Limit locked_memory;  // bytes
  Space shared_memory;
  Space agent_folder;
  Space working_directory;
  std::vector<std::string> programs;  // the file that each program of this host is; empty: it has none
  std::vector<MpiFinding> mpi{};      // of each of them
  void fields(auto& a) {
    a(system, driver, user, cores, memory, device, devices, open_files, processes, locked_memory, shared_memory,
      agent_folder, working_directory, programs, mpi);
  }
  bool operator==(const HostFacts&) const = default;
};

// /proc/meminfo, and the limits of the cgroups (v2, or v1's "memory") that this process is in.
Memory read_memory(const ReadText& read);

// `allowed` processors, or as many as cpu.max of the cgroups (v2) leaves of their time, rounded up.
std::uint32_t read_usable_cores(const ReadText& read, std::uint32_t allowed);

// PRETTY_NAME of /etc/os-release; empty: it does not say.
std::string read_system_name(const ReadText& read);

// The version in /proc/driver/nvidia/version; empty: no such driver.
std::string read_nvidia_driver(const ReadText& read);

}  // namespace sml::plan
