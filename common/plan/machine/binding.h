// Determines which processors and NUMA nodes each worker of a host may use, and its OMP_NUM_THREADS. Pure: takes the
// topology of the host and the processors that may be used, returns numbers. The agent turns these, and `nice` and
// `io_priority`, into system calls (launcher/agent/core/resource_assignment.h).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/plan/machine/cpu_topology.h"

namespace sml::plan {

enum class BindTo : std::uint8_t { None, Core, L3, Numa, Socket, Hwthread };
// The NUMA nodes that a worker's memory comes from. None: any. Bind: only the nodes of its processors. Prefer: these
// first. Interleave: all of these in turn, or all that may be used if the worker is not bound.
enum class MemoryPolicy : std::uint8_t { None, Bind, Prefer, Interleave };
// The consequence if workers cannot be bound as wished. Warn: they start without that binding, with a warning. Fail:
// they do not start. Ignore: as Warn, without the warning, and more workers than cores are never bound, whatever BindTo
// is; only the default binding of Open MPI (bind_as_open_mpi()) uses it.
enum class OnImpossible : std::uint8_t { Warn, Fail, Ignore };
// The number of cores of each worker. Counted: BindingRequest::cores_per_rank; Equal: the usable cores of the host
// divided by the number of its workers, at least 1.
enum class CoreShare : std::uint8_t { Counted, Equal };
enum class ReportBindings : std::uint8_t { No, Yes };
// The classes of BindingRequest::io_priority, as ioprio_set(2) takes them. A level, 0 (first) to 7, is added to best
// effort.
inline constexpr std::uint32_t kBestEffortIo = 2U << 13;
inline constexpr std::uint32_t kIdleIo = 3U << 13;

struct BindingRequest {
  BindTo bind_to = BindTo::None;
  std::uint32_t cores_per_rank = 0;  // 0: not given, which is 1 with BindTo::Core and BindTo::Hwthread
  MemoryPolicy memory = MemoryPolicy::None;
  OnImpossible on_impossible = OnImpossible::Warn;
  ReportBindings report = ReportBindings::No;
  BindTo map_by = BindTo::None;  // the parts of the host over which workers are dealt one by one; None: no parts
  std::uint32_t per_part = 0;    // with map_by: workers on each part before the next part gets any; 0: one by one
  CoreShare share = CoreShare::Counted;
  CpuSet cores{};                 // the cores that may be used, by logical numbers, unlike other CpuSets; empty: all
  std::uint32_t nice = 0;         // added to the niceness of the agent: 0 to 19
  std::uint32_t io_priority = 0;  // 0: that of the agent
  void fields(auto& a) {
    a(bind_to, cores_per_rank, share, memory, on_impossible, report, map_by, per_part, cores, nice, io_priority);
  }
  // See wire::Prepare::kNames.
  static constexpr std::string_view kNames[] = {
      "--bind-to", "--cpus-per-rank", "--cpus-per-rank", "--memory-policy", "--bind-strict", "--report-bindings",
      "--map-by",  "--map-by",        "--cpu-set",       "--nice",          "--ionice"};
  bool operator==(const BindingRequest&) const = default;
};

struct WorkerCpus {
  CpuSet cpus;                            // empty: not bound
  std::vector<std::uint32_t> numa_nodes;  // the kernel's numbers, for the memory policy; empty: no policy
  std::uint32_t threads = 0;              // OMP_NUM_THREADS; 0: not determined by a binding
  std::string words;                      // "socket 0, core 2, CPUs 2,18"; empty: not bound
};

struct Bindings {
  std::vector<WorkerCpus> workers;      // by local rank
  std::vector<std::string> impossible;  // why workers could not be bound as wished; parts of sentences
};

// Determines the processors of each worker of a host; whether workers start if that is impossible, the caller decides.
// `cores` has one entry per worker, by local rank: the cores that a rankfile names for it, which override the request;
// an empty entry: none.
//
// BindTo::Core gives each worker cores of its own, in order, and BindTo::Hwthread processors of its own. The other
// values spread the workers evenly over the cores that may be used, or as map_by demands, and let each worker use the
// whole cache, NUMA node or socket on which it is placed. With BindTo::None and `request.cores`, each worker may use
// all of these cores.
Bindings bind_workers(const CpuTopology& topology, const CpuSet& allowed, std::span<const std::string> cores,
                      const BindingRequest& request);

// Returns the number of parts of this kind in `usable`. The launcher calls it, with its own host, for --map-by ppr.
std::uint32_t count_parts(const CpuTopology& usable, BindTo what);

}  // namespace sml::plan
