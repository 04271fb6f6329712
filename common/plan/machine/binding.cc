#include "common/plan/machine/binding.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "common/core/error.h"
#include "common/core/text.h"
#include "common/plan/machine/core_groups.h"

namespace sml::plan {

namespace {

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
  for (const Cpu& cpu : usable_part(topology, cpus)) {
    sockets.insert(cpu.socket);
    nodes.insert(cpu.numa_node);
    cores.insert(cpu.core);
  }
  return named("socket", sockets) + ", " + named("NUMA node", nodes) + ", " + named("core", cores) + ", " +
         named("CPU", {cpus.begin(), cpus.end()});
}

std::vector<std::uint32_t> nodes_of(const CpuTopology& topology, const CpuSet& cpus) {
  std::set<std::uint32_t> nodes;
  for (const Cpu& cpu : usable_part(topology, cpus)) nodes.insert(cpu.numa_node);
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

  // Returns the processors of the cores that a rankfile names. An error is a clause that names what is missing.
  Result<CpuSet> find(std::string_view text) const {
    const Result<std::vector<CoreGroup>> groups = parse_core_groups(text);
    if (!groups) return Error(ErrorKind::Config, "\"" + show(text, 60) + "\" " + groups.error().message());
    std::set<std::uint32_t> wanted;
    for (const CoreGroup& group : *groups) {
      if (Result<void> added = add(group, wanted); !added) return added.error();
    }
    std::set<std::uint32_t> found;
    CpuSet out;
    for (const Cpu& cpu : usable_part(topology_, allowed_)) {
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
    std::vector<std::uint32_t> cores;  // the cores to which the numbers of the group refer
    if (group.socket) {
      const auto socket = cores_of_socket_.find(*group.socket);
      if (socket == cores_of_socket_.end()) {
        return Error(ErrorKind::Config, "there is no socket " + std::to_string(*group.socket) + ", only " +
                                            pluralize(cores_of_socket_.size(), "socket"));
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
                                            ", only " + pluralize(cores.size(), "core"));
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

// ---- by the BindingRequest

std::uint32_t object_of(const Cpu& cpu, BindTo what) {
  switch (what) {
    case BindTo::L3: return cpu.l3;
    case BindTo::Numa: return cpu.numa;
    case BindTo::Socket: return cpu.socket;
    case BindTo::Hwthread: return cpu.number;
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

// The first processor of each core, in order.
CpuTopology cores_in(const CpuTopology& usable) {
  CpuTopology out;
  for (const Cpu& cpu : usable) {
    if (out.empty() || out.back().core != cpu.core) out.push_back(cpu);
  }
  return out;
}

bool has_own(BindTo what) { return what == BindTo::Core || what == BindTo::Hwthread; }

// Places workers on units, which are cores or processors. place() returns the first unit of each worker, or an empty
// vector and the reason in `why` if there is no room.
class Placing {
 public:
  Placing(const CpuTopology& units, std::size_t workers, const BindingRequest& request)
      : units_(units), workers_(workers), request_(request), each_(std::max(1U, request.cores_per_rank)) {}

  std::vector<std::size_t> place(std::string& why) const {
    const bool bounded =
        has_own(request_.bind_to) || request_.cores_per_rank > 0 || request_.on_impossible == OnImpossible::Ignore;
    if (bounded && workers_ * each_ > units_.size()) {
      why = pluralize(workers_, "worker") + " with " + pluralize(each_, noun()) + " each are more than the " +
            pluralize(units_.size(), noun()) + " that may be used";
      const std::size_t most = units_.size() / each_;
      if (most > 0) why += "; start at most " + std::to_string(most) + " on this host, or do not bind them";
      return {};
    }
    if (request_.map_by != BindTo::None) return on_parts(why);
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < workers_ && !units_.empty(); ++i) {
      out.push_back(has_own(request_.bind_to) ? i * each_ : i * units_.size() / workers_);
    }
    return out;
  }

 private:
  std::string_view noun() const { return request_.bind_to == BindTo::Hwthread ? "processor" : "core"; }

  std::vector<std::size_t> on_parts(std::string& why) const {
    std::vector<std::vector<std::size_t>> parts;  // the indices of the units of each part
    for (std::size_t i = 0; i < units_.size(); ++i) {
      const bool same = i > 0 && object_of(units_[i], request_.map_by) == object_of(units_[i - 1], request_.map_by);
      if (!same) parts.emplace_back();
      parts.back().push_back(i);
    }
    std::vector<std::size_t> taken(parts.size(), 0);
    std::vector<std::size_t> out;
    std::size_t next = 0;
    for (std::size_t i = 0; i < workers_ && !parts.empty(); ++i) {
      const auto full = [&](std::size_t part) {
        return has_own(request_.bind_to) && taken[part] + each_ > parts[part].size();
      };
      std::size_t part = request_.per_part > 0 ? i / request_.per_part : next;
      for (std::size_t tries = 0; request_.per_part == 0 && tries < parts.size() && full(part); ++tries) {
        part = (part + 1) % parts.size();
      }
      if (part >= parts.size() || full(part)) {
        why = pluralize(parts.size(), "part") + " of the host, as --map-by counts them, have no room for " +
              pluralize(workers_, "worker");
        return {};
      }
      out.push_back(parts[part][taken[part] % parts[part].size()]);
      taken[part] += each_;
      next = (part + 1) % parts.size();
    }
    return out;
  }

  const CpuTopology& units_;
  std::size_t workers_;
  const BindingRequest& request_;
  std::size_t each_;
};

// Returns the processors of each worker; empty, with the reason in `why`, if the workers cannot be bound.
std::vector<CpuSet> deal(const CpuTopology& usable, std::size_t workers, const BindingRequest& request,
                         std::string& why) {
  const bool known = request.bind_to != BindTo::L3 && request.map_by != BindTo::L3;
  if (!known && !usable.empty() && usable.front().l3 == kNowhere) {
    why = "no third-level cache is known";
    return {};
  }
  const CpuTopology units = request.bind_to == BindTo::Hwthread ? usable : cores_in(usable);
  const std::vector<std::size_t> places = Placing(units, workers, request).place(why);
  const std::size_t each = has_own(request.bind_to) ? std::max(1U, request.cores_per_rank) : 1;
  std::vector<CpuSet> out;
  for (const std::size_t first : places) {
    CpuSet& set = out.emplace_back();
    for (std::size_t unit = first; unit < first + each; ++unit) {
      const CpuSet next = cpus_of(usable, request.bind_to, object_of(units[unit], request.bind_to));
      set.insert(set.end(), next.begin(), next.end());
    }
    std::sort(set.begin(), set.end());
  }
  if (out.empty() && why.empty()) why = "the processors of the host cannot be read";
  return out;
}

CpuSet numbers_of(const CpuTopology& usable) {
  CpuSet out;
  for (const Cpu& cpu : usable) out.push_back(cpu.number);
  std::sort(out.begin(), out.end());
  return out;
}

// Returns the processors of the cores that the wish names; reports those that may not be used in `out.impossible`.
CpuTopology named_part(const CpuTopology& topology, const CpuSet& allowed, const BindingRequest& request,
                       Bindings& out) {
  CpuTopology usable = usable_part(topology, allowed);
  if (request.cores.empty()) return usable;
  std::erase_if(usable, [&](const Cpu& cpu) {
    return !std::binary_search(request.cores.begin(), request.cores.end(), cpu.core);
  });
  std::set<std::uint32_t> found;
  for (const Cpu& cpu : usable) found.insert(cpu.core);
  if (found.size() < request.cores.size()) {
    out.impossible.push_back("not all of the cores " + cpu_list_text(request.cores) + " may be used here");
  }
  return usable;
}

// The number of cores for each worker according to the wish; 0: not given.
std::uint32_t cores_of_each(const BindingRequest& request, const CpuTopology& usable, std::size_t workers) {
  if (request.share == CoreShare::Counted || workers == 0) return request.cores_per_rank;
  const CpuTopology units = request.bind_to == BindTo::Hwthread ? usable : cores_in(usable);
  return static_cast<std::uint32_t>(std::max<std::size_t>(units.size() / workers, 1));
}

void apply_request(const CpuTopology& usable, BindingRequest request, std::uint32_t cores_per_rank, Bindings& out) {
  request.cores_per_rank = cores_per_rank;
  if (request.bind_to == BindTo::None) {
    for (WorkerCpus& worker : out.workers) worker.cpus = request.cores.empty() ? CpuSet() : numbers_of(usable);
    return;
  }
  std::string why;
  std::vector<CpuSet> sets = deal(usable, out.workers.size(), request, why);
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
                      const BindingRequest& request) {
  Bindings out{std::vector<WorkerCpus>(cores.size()), {}};
  const CpuTopology usable = named_part(topology, allowed, request, out);
  const std::uint32_t cores_per_rank = cores_of_each(request, usable, cores.size());
  apply_request(usable, request, cores_per_rank, out);
  apply_rankfile(topology, allowed, cores, out);
  apply_memory(usable, allowed, request.memory, out);
  std::map<CpuSet, std::uint32_t> sharers;
  for (const WorkerCpus& worker : out.workers) ++sharers[worker.cpus];
  for (WorkerCpus& worker : out.workers) {
    worker.threads = cores_per_rank;
    if (worker.cpus.empty()) continue;
    worker.words = describe(topology, worker.cpus);
    const auto cpus = static_cast<std::uint32_t>(worker.cpus.size());
    if (cores_per_rank == 0) worker.threads = std::max(1U, cpus / sharers[worker.cpus]);
  }
  return out;
}

std::uint32_t count_parts(const CpuTopology& usable, BindTo what) {
  std::set<std::uint32_t> objects;
  for (const Cpu& cpu : usable) objects.insert(object_of(cpu, what));
  return static_cast<std::uint32_t>(objects.size());
}

}  // namespace sml::plan
