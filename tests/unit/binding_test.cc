#include "common/plan/machine/binding.h"

#include <algorithm>
#include <set>

#include "tests/support/catch.h"
#include "tests/support/fake_machines.h"

using namespace sml;
using namespace sml::plan;

namespace {
CpuSet all_of(const CpuTopology& topology) {
  CpuSet out;
  for (const Cpu& cpu : topology) out.push_back(cpu.number);
  std::sort(out.begin(), out.end());
  return out;
}

BindingRequest request_for(BindTo what, std::uint32_t cores = 0) {
  BindingRequest request;
  request.bind_to = what;
  request.cores_per_rank = cores;
  return request;
}

// "0,8 2,10": the processors of each worker, "-" for one that is not bound; then why not.
std::string flat(const Bindings& bindings) {
  std::string out;
  for (const WorkerCpus& worker : bindings.workers) {
    out += (out.empty() ? "" : " ") + (worker.cpus.empty() ? std::string("-") : cpu_list_text(worker.cpus));
  }
  for (const std::string& why : bindings.impossible) out += "; " + why;
  return out;
}

std::vector<std::string> nobody(std::size_t workers) { return std::vector<std::string>(workers); }

std::string bound(const test::FakeSys& sys, std::size_t workers, const BindingRequest& request) {
  const CpuTopology topology = sys.topology();
  return flat(bind_workers(topology, all_of(topology), nobody(workers), request));
}

std::vector<std::uint32_t> threads_of(const Bindings& bindings) {
  std::vector<std::uint32_t> out;
  for (const WorkerCpus& worker : bindings.workers) out.push_back(worker.threads);
  return out;
}
}  // namespace

TEST_CASE("workers get cores of their own, or what their cores are part of") {
  const auto xeons = test::two_sockets_smt();
  CHECK(bound(xeons, 3, request_for(BindTo::Core)) == "0,8 2,10 4,12");
  CHECK(bound(xeons, 2, request_for(BindTo::Core, 3)) == "0,2,4,8,10,12 1,3,6,9,11,14");
  CHECK(bound(xeons, 2, request_for(BindTo::Socket)) == "0,2,4,6,8,10,12,14 1,3,5,7,9,11,13,15");
  CHECK(bound(xeons, 1, request_for(BindTo::Numa)) == "0,2,4,6,8,10,12,14");
  CHECK(bound(xeons, 1, request_for(BindTo::None)) == "-");
  const auto epyc = test::several_caches();
  CHECK(bound(epyc, 4, request_for(BindTo::L3)) == "0-1 2-3 4-5 6-7");
  CHECK(bound(epyc, 2, request_for(BindTo::L3)) == "0-1 4-5");
  CHECK(bound(epyc, 8, request_for(BindTo::Numa)) == "0-3 0-3 0-3 0-3 4-7 4-7 4-7 4-7");
  CHECK(bound(test::hybrid(), 4, request_for(BindTo::Core)) == "0-1 2-3 4 5");
}

TEST_CASE("workers are put on the parts of a host in turn, or so many on each") {
  const auto xeons = test::two_sockets_smt();
  const auto mapped = [](BindTo by, BindTo to, std::uint32_t per_part = 0, std::uint32_t cores = 0) {
    BindingRequest request = request_for(to, cores);
    request.map_by = by;
    request.per_part = per_part;
    return request;
  };
  const std::string first = "0,2,4,6,8,10,12,14";
  const std::string second = "1,3,5,7,9,11,13,15";
  CHECK(bound(xeons, 3, mapped(BindTo::Socket, BindTo::Socket)) == first + " " + second + " " + first);
  CHECK(bound(xeons, 3, mapped(BindTo::Socket, BindTo::Core)) == "0,8 1,9 2,10");
  CHECK(bound(xeons, 3, mapped(BindTo::Socket, BindTo::Core, 2)) == "0,8 2,10 1,9");
  CHECK(bound(xeons, 4, mapped(BindTo::Socket, BindTo::Core, 2, 2)) == "0,2,8,10 4,6,12,14 1,3,9,11 5,7,13,15");
  CHECK(bound(xeons, 2, mapped(BindTo::Core, BindTo::Core)) == "0,8 2,10");
  CHECK(bound(xeons, 3, request_for(BindTo::Hwthread)) == "0 8 2");
  CHECK(bound(xeons, 5, mapped(BindTo::Socket, BindTo::Core, 2)) ==
        "- - - - -; the workers cannot be bound: 2 parts of the host, as --map-by counts them, have no room for 5 "
        "workers");
  CHECK(count_parts(xeons.topology(), BindTo::Socket) == 2);
  CHECK(count_parts(xeons.topology(), BindTo::Core) == 8);
}

TEST_CASE("workers stay on the cores that are named") {
  const auto xeons = test::two_sockets_smt();
  BindingRequest request = request_for(BindTo::None);
  request.cores = {1, 4};
  CHECK(bound(xeons, 2, request) == "1-2,9-10 1-2,9-10");  // Open MPI lets each use all of them
  request.bind_to = BindTo::Core;
  CHECK(bound(xeons, 2, request) == "2,10 1,9");
  request.cores = {1, 99};
  CHECK(bound(xeons, 1, request) == "2,10; not all of the cores 1,99 may be used here");
}

TEST_CASE("only what may be used is used, and workers are spread by it") {
  const CpuTopology topology = test::several_caches().topology();
  const CpuSet allowed{3, 4, 5, 6};  // a cpuset: one core of the first node, three of the second
  const auto with = [&](std::size_t workers, const BindingRequest& request) {
    return flat(bind_workers(topology, allowed, nobody(workers), request));
  };
  CHECK(with(4, request_for(BindTo::Core)) == "3 4 5 6");
  CHECK(with(4, request_for(BindTo::Numa)) == "3 4-6 4-6 4-6");
  CHECK(
      with(5, request_for(BindTo::Core)) ==
      "- - - - -; the workers cannot be bound: 5 workers with 1 core each are more than the 4 cores that may be used; "
      "start at most 4 on this host, or do not bind them");
}

TEST_CASE("what is impossible leaves the workers unbound and says why") {
  CHECK(bound(test::plain_vm(), 2, request_for(BindTo::L3)) ==
        "- -; the workers cannot be bound: no third-level cache is known");
  CHECK(bound(test::hybrid(), 3, request_for(BindTo::Socket, 2)) ==
        "- - -; the workers cannot be bound: 3 workers with 2 cores each are more than the 4 cores that may be used; "
        "start at most 2 on this host, or do not bind them");
  CHECK(flat(bind_workers({}, {0, 1}, nobody(1), request_for(BindTo::Core))) ==
        "-; the workers cannot be bound: 1 worker with 1 core each are more than the 0 cores that may be used");
  CHECK(flat(bind_workers({}, {0, 1}, nobody(1), request_for(BindTo::Socket))) ==
        "-; the workers cannot be bound: the processors of the host cannot be read");
}

TEST_CASE("a rankfile's cores are logical, and win over the wish") {
  const CpuTopology topology = test::two_sockets_smt().topology();
  const CpuSet all = all_of(topology);
  const auto with = [&](std::vector<std::string> cores, const CpuSet& allowed, BindTo what) {
    return flat(bind_workers(topology, allowed, cores, request_for(what)));
  };
  CHECK(with({"1:0-1", "7", "0:*", ""}, all, BindTo::None) == "1,3,9,11 7,15 0,2,4,6,8,10,12,14 -");
  CHECK(with({"1:0;0:3", ""}, all, BindTo::Core) == "1,6,9,14 2,10");
  CHECK(with({"2:0"}, all, BindTo::None) == "-; local rank 0 cannot be bound: there is no socket 2, only 2 sockets");
  CHECK(with({"1:4"}, all, BindTo::None) ==
        "-; local rank 0 cannot be bound: there is no core 4 on socket 1, only 4 cores");
  CHECK(with({"", "8"}, all, BindTo::None) == "- -; local rank 1 cannot be bound: there is no core 8, only 8 cores");
  CHECK(with({"0:0-1"}, {0, 1, 2}, BindTo::None) == "0,2");
  CHECK(with({"0:0-1"}, {0, 1}, BindTo::None) ==
        "-; local rank 0 cannot be bound: not all of the cores 0:0-1 may be used here");
}

TEST_CASE("threads are the share of what a worker is bound to") {
  const CpuTopology topology = test::two_sockets_smt().topology();
  const CpuSet all = all_of(topology);
  const auto threads = [&](std::size_t workers, const BindingRequest& request) {
    return threads_of(bind_workers(topology, all, nobody(workers), request));
  };
  CHECK(threads(2, request_for(BindTo::None)) == std::vector<std::uint32_t>{0, 0});
  CHECK(threads(2, request_for(BindTo::None, 3)) == std::vector<std::uint32_t>{3, 3});
  CHECK(threads(1, request_for(BindTo::Core)) == std::vector<std::uint32_t>{2});
  CHECK(threads(4, request_for(BindTo::Socket)) == std::vector<std::uint32_t>{4, 4, 4, 4});
  CHECK(threads(2, request_for(BindTo::Core, 2)) == std::vector<std::uint32_t>{2, 2});
}

TEST_CASE("memory comes from the nodes of the processors") {
  const CpuTopology topology = test::two_sockets_smt().topology();
  const CpuSet all = all_of(topology);
  BindingRequest request = request_for(BindTo::Socket);
  request.memory = MemoryPolicy::Bind;
  const Bindings near = bind_workers(topology, all, nobody(2), request);
  CHECK(near.workers[1].numa_nodes == std::vector<std::uint32_t>{1});
  CHECK(near.workers[1].words == "socket 1, NUMA node 1, cores 4-7, CPUs 1,3,5,7,9,11,13,15");
  request.bind_to = BindTo::None;
  CHECK(flat(bind_workers(topology, all, nobody(1), request)) ==
        "-; the memory of workers that are not bound cannot be either; --bind-to binds them");
  request.memory = MemoryPolicy::Interleave;
  CHECK(bind_workers(topology, all, nobody(1), request).workers[0].numa_nodes == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("workers with cores of their own never share one, on any machine") {
  for (const test::FakeSys& sys : {test::two_sockets_smt(), test::several_caches(), test::hybrid(), test::plain_vm()}) {
    const CpuTopology topology = sys.topology();
    for (std::size_t workers = 1; workers <= topology.size(); ++workers) {
      for (std::uint32_t each = 1; each <= 4; ++each) {
        const Bindings out = bind_workers(topology, all_of(topology), nobody(workers), request_for(BindTo::Core, each));
        std::set<std::uint32_t> used;
        std::size_t count = 0;
        for (const WorkerCpus& worker : out.workers) {
          used.insert(worker.cpus.begin(), worker.cpus.end());
          count += worker.cpus.size();
          CHECK(worker.cpus.empty() == !out.impossible.empty());
        }
        CHECK(used.size() == count);
      }
    }
  }
}

TEST_CASE("a share of the cores is as many for each worker") {
  const CpuTopology topology = test::two_sockets_smt().topology();
  const std::uint32_t cores = count_parts(topology, BindTo::Core);
  BindingRequest request{.bind_to = BindTo::Core};
  request.share = CoreShare::Equal;
  const Bindings three = bind_workers(topology, all_of(topology), std::vector<std::string>(3), request);
  CHECK(three.impossible.empty());
  for (const WorkerCpus& worker : three.workers) {
    CHECK(worker.threads == cores / 3);
    CHECK(worker.cpus.size() == std::size_t{2} * (cores / 3));  // each core has two threads
  }
  const Bindings many = bind_workers(topology, all_of(topology), std::vector<std::string>(cores + 1), request);
  CHECK(many.impossible.size() == 1);
}
