#include "common/plan/binding.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "common/core/error.h"
#include "common/core/text.h"
#include "common/plan/rankfile.h"

namespace sml::plan {

namespace {

std::string counted(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

CpuTopology only(const CpuTopology& topology, const CpuSet& allowed) {
  CpuTopology out;
  for (const Cpu& cpu : topology) {
    if (std::binary_search(allowed.begin(), allowed.end(), cpu.number)) out.push_back(cpu);
  }
  return out;
}

// ---- words

// "core 2", "cores 0-3".
std::string named(std::string_view noun, const std::set<std::uint32_t>& numbers) {
  const CpuSet sorted(numbers.begin(), numbers.end());
  return std::string(noun) + (numbers.size() == 1 ? " " : "s ") + cpu_list_text(sorted);
}

std::string describe(const CpuTopology& topology, const CpuSet& cpus) {
  std::set<std::uint32_t> sockets;
  std::set<std::uint32_t> nodes;
  std::set<std::uint32_t> cores;
  for (const Cpu& cpu : only(topology, cpus)) {
    sockets.insert(cpu.socket);
    nodes.insert(cpu.numa_node);
    cores.insert(cpu.core);
  }
  return named("socket", sockets) + ", " + named("NUMA node", nodes) + ", " + named("core", cores) + ", " +
         named("CPU", {cpus.begin(), cpus.end()});
}

std::vector<std::uint32_t> nodes_of(const CpuTopology& topology, const CpuSet& cpus) {
  std::set<std::uint32_t> nodes;
  for (const Cpu& cpu : only(topology, cpus)) nodes.insert(cpu.numa_node);
  return {nodes.begin(), nodes.end()};
}

// ---- by a rankfile

class CoreFinder {
 public:
  CoreFinder(const CpuTopology& topology, const CpuSet& allowed) : topology_(topology), allowed_(allowed) {
    for (const Cpu& cpu : topology) {
      std::vector<std::uint32_t>& of_socket = cores_of_socket_[cpu.socket];
      if (of_socket.empty() || of_socket.back() != cpu.core) of_socket.push_back(cpu.core);
      cores_ = std::max(cores_, cpu.core + 1);
    }
  }

  // The processors of what a rankfile names. An error is a clause: what is not there.
  Result<CpuSet> find(std::string_view text) const {
    const Result<std::vector<CoreGroup>> groups = parse_core_groups(text);
    if (!groups) return Error(ErrorKind::Config, "\"" + show(text, 60) + "\" " + groups.error().message());
    std::set<std::uint32_t> wanted;
    for (const CoreGroup& group : *groups) {
      if (Result<void> added = add(group, wanted); !added) return added.error();
    }
    std::set<std::uint32_t> found;
    CpuSet out;
    for (const Cpu& cpu : only(topology_, allowed_)) {
      if (wanted.count(cpu.core) == 0) continue;
      out.push_back(cpu.number);
      found.insert(cpu.core);
    }
    std::sort(out.begin(), out.end());
    if (found.size() == wanted.size()) return out;
    return Error(ErrorKind::Config, "not all of the cores " + show(text, 60) + " may be used here");
  }

 private:
  Result<void> add(const CoreGroup& group, std::set<std::uint32_t>& wanted) const {
    std::vector<std::uint32_t> cores;  // that the numbers of the group count
    if (group.socket) {
      const auto socket = cores_of_socket_.find(*group.socket);
      if (socket == cores_of_socket_.end()) {
        return Error(ErrorKind::Config, "there is no socket " + std::to_string(*group.socket) + ", only " +
                                            counted(cores_of_socket_.size(), "socket"));
      }
      cores = socket->second;
    } else {
      for (std::uint32_t core = 0; core < cores_; ++core) cores.push_back(core);
    }
    if (group.cores.empty()) wanted.insert(cores.begin(), cores.end());
    for (const CoreRange& range : group.cores) {
      if (range.last >= cores.size()) {
        return Error(ErrorKind::Config, "there is no core " + std::to_string(range.last) +
                                            (group.socket ? " on socket " + std::to_string(*group.socket) : "") +
                                            ", only " + counted(cores.size(), "core"));
      }
      wanted.insert(cores.begin() + range.first, cores.begin() + range.last + 1);
    }
    return {};
  }

  const CpuTopology& topology_;
  const CpuSet& allowed_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> cores_of_socket_;
  std::uint32_t cores_ = 0;
};

// ---- by the wish

std::uint32_t object_of(const Cpu& cpu, BindTo what) {
  switch (what) {
    case BindTo::L3: return cpu.l3;
    case BindTo::Numa: return cpu.numa;
    case BindTo::Socket: return cpu.socket;
    case BindTo::None:
    case BindTo::Core: break;
  }
  return cpu.core;
}

CpuSet cpus_of(const CpuTopology& usable, BindTo what, std::uint32_t object) {
  CpuSet out;
  for (const Cpu& cpu : usable) {
    if (object_of(cpu, what) == object) out.push_back(cpu.number);
  }
  std::sort(out.begin(), out.end());
  return out;
}

// One processor of each core, in order.
CpuTopology cores_in(const CpuTopology& usable) {
  CpuTopology out;
  for (const Cpu& cpu : usable) {
    if (out.empty() || out.back().core != cpu.core) out.push_back(cpu);
  }
  return out;
}

// The sets of all workers; empty and `why` when there cannot be any.
std::vector<CpuSet> deal(const CpuTopology& usable, std::size_t workers, const BindingWish& wish, std::string& why) {
  const CpuTopology cores = cores_in(usable);
  const bool own_cores = wish.bind_to == BindTo::Core;
  const std::size_t each = std::max(1U, wish.cores_per_rank);
  if ((own_cores || wish.cores_per_rank > 0) && workers * each > cores.size()) {
    why = counted(workers, "worker") + " with " + counted(each, "core") + " each are more than the " +
          counted(cores.size(), "core") + " that may be used";
    return {};
  }
  std::vector<CpuSet> out;
  for (std::size_t i = 0; i < workers && !cores.empty(); ++i) {
    const Cpu& first = cores[own_cores ? i * each : i * cores.size() / workers];
    if (wish.bind_to == BindTo::L3 && first.l3 == kNowhere) {
      why = "no third-level cache is known";
      return {};
    }
    CpuSet set = cpus_of(usable, wish.bind_to, object_of(first, wish.bind_to));
    for (std::size_t more = 1; own_cores && more < each; ++more) {
      const CpuSet next = cpus_of(usable, BindTo::Core, cores[i * each + more].core);
      set.insert(set.end(), next.begin(), next.end());
    }
    std::sort(set.begin(), set.end());
    out.push_back(std::move(set));
  }
  if (out.empty()) why = "the processors of the host cannot be read";
  return out;
}

void apply_wish(const CpuTopology& usable, const BindingWish& wish, Bindings& out) {
  if (wish.bind_to == BindTo::None) return;
  std::string why;
  std::vector<CpuSet> sets = deal(usable, out.workers.size(), wish, why);
  if (!why.empty()) {
    out.impossible.push_back("the workers cannot be bound: " + why);
    return;
  }
  for (std::size_t i = 0; i < sets.size(); ++i) out.workers[i].cpus = std::move(sets[i]);
}

void apply_rankfile(const CpuTopology& topology, const CpuSet& allowed, std::span<const std::string> cores,
                    Bindings& out) {
  const CoreFinder finder(topology, allowed);
  for (std::size_t i = 0; i < out.workers.size(); ++i) {
    if (cores[i].empty()) continue;
    Result<CpuSet> found = finder.find(cores[i]);
    if (found) {
      out.workers[i].cpus = std::move(*found);
    } else {
      out.impossible.push_back("local rank " + std::to_string(i) + " cannot be bound: " + found.error().message());
    }
  }
}

void apply_memory(const CpuTopology& usable, const CpuSet& allowed, MemoryPolicy policy, Bindings& out) {
  if (policy == MemoryPolicy::None) return;
  bool unbound = false;
  for (WorkerCpus& worker : out.workers) {
    if (!worker.cpus.empty()) worker.numa_nodes = nodes_of(usable, worker.cpus);
    if (worker.cpus.empty() && policy == MemoryPolicy::Interleave) worker.numa_nodes = nodes_of(usable, allowed);
    unbound = unbound || worker.numa_nodes.empty();
  }
  if (unbound) {
    out.impossible.push_back("the memory of workers that are not bound cannot be either; --bind-to binds them");
  }
}

}  // namespace

Bindings bind_workers(const CpuTopology& topology, const CpuSet& allowed, std::span<const std::string> cores,
                      const BindingWish& wish) {
  const CpuTopology usable = only(topology, allowed);
  Bindings out{std::vector<WorkerCpus>(cores.size()), {}};
  apply_wish(usable, wish, out);
  apply_rankfile(topology, allowed, cores, out);
  apply_memory(usable, allowed, wish.memory, out);
  std::map<CpuSet, std::uint32_t> sharers;
  for (const WorkerCpus& worker : out.workers) ++sharers[worker.cpus];
  for (WorkerCpus& worker : out.workers) {
    worker.threads = wish.cores_per_rank;
    if (worker.cpus.empty()) continue;
    worker.words = describe(topology, worker.cpus);
    const auto cpus = static_cast<std::uint32_t>(worker.cpus.size());
    if (wish.cores_per_rank == 0) worker.threads = std::max(1U, cpus / sharers[worker.cpus]);
  }
  return out;
}

}  // namespace sml::plan
