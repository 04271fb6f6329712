// Reads the processors of a host from /sys of Linux. Pure: takes the contents of files, returns tables.
//
// Sockets, NUMA nodes, caches and cores are numbered from 0 in the order of their first processor, socket by socket, as
// in hwloc. Processors and NUMA nodes also keep the kernel's numbers, which are needed to bind to them.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sml::plan {

using CpuSet = std::vector<std::uint32_t>;  // the kernel's numbers, ascending, without duplicates

inline constexpr std::uint32_t kMaxCpus = 1U << 16;
inline constexpr std::uint32_t kNowhere = UINT32_MAX;

struct Cpu {
  std::uint32_t number = 0;  // the kernel's number
  std::uint32_t core = 0;    // logical numbers, unique on the host
  std::uint32_t l3 = 0;      // kNowhere: no third-level cache is known
  std::uint32_t numa = 0;
  std::uint32_t socket = 0;
  std::uint32_t numa_node = 0;  // the kernel's number of the NUMA node
  bool operator==(const Cpu&) const = default;
};

// Sorted by socket, NUMA node, cache, core and number. Empty if nothing can be read.
using CpuTopology = std::vector<Cpu>;

// Returns the contents of a file; empty if it does not exist.
using ReadText = std::function<std::string(const std::string& path)>;

// Returns the processors that are online. Without a file for the socket or NUMA node all count as one; without one for
// the core, each processor is a core of its own.
CpuTopology read_cpu_topology(const ReadText& read);

// The part of the topology whose processors are in `allowed`.
CpuTopology usable_part(const CpuTopology& topology, const CpuSet& allowed);

// Describes where the processors are, in the form that MPI libraries compare between two ranks:
// "SK0:NM0:L30:CR0-1:HT0-1". Each part is a list of numbers of sockets, NUMA nodes, caches, cores and processors (the
// kernel's numbers for these, logical ones for the others); two ranks share the numbers that both have. A part that is
// unknown is left out.
std::string locality_text(const CpuTopology& topology, const CpuSet& cpus);

// Parses the kernel's form "0-3,8", with or without a newline; empty text is the empty set, and the order does not
// matter. Returns nullopt for anything else, and for numbers of kMaxCpus or more.
std::optional<CpuSet> parse_cpu_list(std::string_view text);
// The opposite: "0-3,8".
std::string cpu_list_text(const CpuSet& cpus);

}  // namespace sml::plan
