// The files below /sys of machines that exist, as far as the topology is read from them.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "common/plan/machine/cpu_topology.h"

namespace sml::test {

struct FakeSys {
  std::map<std::string, std::string> files;

  std::string read(const std::string& path) const {
    const auto found = files.find(path);
    return found == files.end() ? std::string() : found->second;
  }
  plan::CpuTopology topology() const {
    return plan::read_cpu_topology([this](const std::string& path) { return read(path); });
  }
  void cpu(int number, int socket, const std::string& siblings, const std::string& l3) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(number);
    files[folder + "/topology/physical_package_id"] = std::to_string(socket) + "\n";
    files[folder + "/topology/thread_siblings_list"] = siblings + "\n";
    files[folder + "/cache/index0/level"] = "1\n";
    files[folder + "/cache/index0/shared_cpu_list"] = siblings + "\n";
    if (l3.empty()) return;
    files[folder + "/cache/index1/level"] = "3\n";
    files[folder + "/cache/index1/shared_cpu_list"] = l3 + "\n";
  }
  void online(const std::string& cpus) { files["/sys/devices/system/cpu/online"] = cpus + "\n"; }
  void nodes(const std::vector<std::string>& cpus) {
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      files["/sys/devices/system/node/node" + std::to_string(i) + "/cpulist"] = cpus[i] + "\n";
    }
    files["/sys/devices/system/node/online"] = "0-" + std::to_string(cpus.size() - 1) + "\n";
  }
};

// Two Xeons of four cores with two threads each, numbered in turn as servers of Dell do.
inline FakeSys two_sockets_smt() {
  FakeSys sys;
  sys.online("0-15");
  for (int cpu = 0; cpu < 16; ++cpu) {
    const int socket = cpu % 2;
    const std::string siblings = std::to_string(cpu % 8) + "," + std::to_string(cpu % 8 + 8);
    sys.cpu(cpu, socket, siblings, socket == 0 ? "0,2,4,6,8,10,12,14" : "1,3,5,7,9,11,13,15");
  }
  sys.nodes({"0,2,4,6,8,10,12,14", "1,3,5,7,9,11,13,15", ""});  // the third is memory alone
  return sys;
}

// An EPYC: one socket, two NUMA nodes (NPS2), four L3 caches, one thread for each of eight cores.
inline FakeSys several_caches() {
  FakeSys sys;
  sys.online("0-7");
  for (int cpu = 0; cpu < 8; ++cpu) {
    const int first = cpu / 2 * 2;
    sys.cpu(cpu, 0, std::to_string(cpu), std::to_string(first) + "-" + std::to_string(first + 1));
  }
  sys.nodes({"0-3", "4-7"});
  return sys;
}

// A Core with two fast cores of two threads, and two slow ones of one.
inline FakeSys hybrid() {
  FakeSys sys;
  sys.online("0-5");
  for (int cpu = 0; cpu < 4; ++cpu) sys.cpu(cpu, 0, cpu < 2 ? "0-1" : "2-3", "0-5");
  for (int cpu = 4; cpu < 6; ++cpu) sys.cpu(cpu, 0, std::to_string(cpu), "0-5");
  sys.nodes({"0-5"});
  return sys;
}

// A virtual machine without caches and NUMA.
inline FakeSys plain_vm() {
  FakeSys sys;
  sys.online("0-1");
  for (int cpu = 0; cpu < 2; ++cpu) sys.cpu(cpu, 0, std::to_string(cpu), "");
  return sys;
}

}  // namespace sml::test
