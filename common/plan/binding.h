// Which processors each worker of a host may use. Pure: the topology of the host and what may be used of it in, sets of
// processors out.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/plan/cpu_topology.h"

namespace sml::plan {

enum class BindTo : std::uint8_t { None, Core, L3, Numa, Socket, Hwthread };
// Where a worker's memory comes from: anywhere; only, or first, from the NUMA nodes of its processors; from all of them
// in turn.
enum class MemoryPolicy : std::uint8_t { None, Bind, Prefer, Interleave };
enum class OnImpossible : std::uint8_t { Warn, Fail, Ignore };
enum class CoreShare : std::uint8_t { Counted, Equal };  // Equal: the cores of the host divided by its workers
enum class ReportBindings : std::uint8_t { No, Yes };

struct BindingWish {
  BindTo bind_to = BindTo::None;
  std::uint32_t cores_per_rank = 0;  // 0: not said; 1 with BindTo::Core
  MemoryPolicy memory = MemoryPolicy::None;
  OnImpossible on_impossible = OnImpossible::Warn;
  ReportBindings report = ReportBindings::No;
  BindTo map_by = BindTo::None;  // workers are put on these parts of the host one each in turn; None: in a row
  std::uint32_t per_part = 0;    // with map_by: so many on the first part, then on the next; 0: one each in turn
  CoreShare share = CoreShare::Counted;
  CpuSet cores{};  // logical numbers of those that may be used; empty: all
  void fields(auto& a) { a(bind_to, cores_per_rank, memory, on_impossible, report, map_by, per_part, share, cores); }
  bool operator==(const BindingWish&) const = default;
};

struct WorkerCpus {
  CpuSet cpus;                            // empty: not bound
  std::vector<std::uint32_t> numa_nodes;  // the kernel's numbers, for the memory policy; empty: none
  std::uint32_t threads = 0;              // OMP_NUM_THREADS; 0: as if nothing were bound
  std::string words;                      // "socket 0, core 2, CPUs 2,18"; empty: not bound
};

struct Bindings {
  std::vector<WorkerCpus> workers;      // by local rank
  std::vector<std::string> impossible;  // clauses; the workers concerned are not bound
};

// `cores` has for each worker, by local rank, its cores as a rankfile names them, which win over the wish; empty: none.
//
// BindTo::Core gives each worker cores of its own, in order, and BindTo::Hwthread processors. The others spread the
// workers evenly over the cores that may be used, or as map_by says, and let each use the whole cache, node or socket
// on which it comes to lie. Where only `cores` are given, each worker may use all of these.
Bindings bind_workers(const CpuTopology& topology, const CpuSet& allowed, std::span<const std::string> cores,
                      const BindingWish& wish);

// How many such parts there are.
std::uint32_t count_parts(const CpuTopology& usable, BindTo what);

}  // namespace sml::plan
