// The processors of a host as Linux shows them below /sys. Pure: the contents of files in, tables out.
//
// Sockets, cores and the like are numbered from 0 in the order of their first processor, socket by socket, as hwloc
// numbers them; processors and NUMA nodes keep the kernel's numbers, with which one can be bound to them.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sml::plan {

using CpuSet = std::vector<std::uint32_t>;  // numbers of the kernel, ascending, each once

inline constexpr std::uint32_t kMaxCpus = 1U << 16;
inline constexpr std::uint32_t kNowhere = UINT32_MAX;

struct Cpu {
  std::uint32_t number = 0;  // the kernel's
  std::uint32_t core = 0;    // logical numbers, unique on the host
  std::uint32_t l3 = 0;      // kNowhere: it has none that is known
  std::uint32_t numa = 0;
  std::uint32_t socket = 0;
  std::uint32_t numa_node = 0;  // the kernel's number of the NUMA node
  bool operator==(const Cpu&) const = default;
};

// In the order of socket, NUMA node, cache, core and number. Empty when nothing can be read.
using CpuTopology = std::vector<Cpu>;

// The contents of a file; empty when it is not there.
using ReadText = std::function<std::string(const std::string& path)>;

// Processors that are online. What a file does not say is taken as one object for all.
CpuTopology read_cpu_topology(const ReadText& read);

CpuTopology usable_part(const CpuTopology& topology, const CpuSet& allowed);

// Where processors are, as MPI libraries compare it of two ranks: "SK0:NM0:L30:CR0-1:HT0-1". Socket, NUMA node, cache
// and the like are lists of numbers, and those that two ranks have in common are shared by them.
std::string locality_text(const CpuTopology& topology, const CpuSet& cpus);

// "0-3,8": the kernel's form, with a newline or not. Nothing for anything else, and for numbers from kMaxCpus on.
std::optional<CpuSet> parse_cpu_list(std::string_view text);
std::string cpu_list_text(const CpuSet& cpus);

}  // namespace sml::plan
