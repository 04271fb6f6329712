#include "launcher/agent/mpi/pmix_job_data.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::agent::pmix;

namespace {

// Two programs on three hosts, one of which comes twice.
JobData job() {
  JobData out;
  out.name_space = "sml-run.job.1";
  out.shape.hosts = {"algo-1", "algo-2", "algo-3"};
  out.shape.blocks = {{{0, 0, 2}}, {{1, 0, 1}}, {{0, 0, 1}}, {{2, 1, 2}}};
  out.shape.slots = 12;
  out.shape.universe = 8;
  out.host = 0;
  out.host_name = "algo-1";
  out.folder = "/tmp/sml-run-a/pmix";
  return out;
}

const Info* find(const std::vector<Info>& infos, std::string_view key) {
  for (const Info& info : infos) {
    if (info.key == key) return &info;
  }
  return nullptr;
}
std::uint64_t number(const std::vector<Info>& infos, std::string_view key) {
  const Info* info = find(infos, key);
  return info == nullptr ? 999 : info->number;
}
std::string text(const std::vector<Info>& infos, std::string_view key) {
  const Info* info = find(infos, key);
  return info == nullptr ? "none" : info->text;
}

std::vector<const Info*> data_of_ranks(const Serve& serve) {
  std::vector<const Info*> out;
  for (const Info& info : serve.job) {
    if (info.key == "pmix.pdata") out.push_back(&info);
  }
  return out;
}

}  // namespace

TEST_CASE("libpmix is told where ranks are bound", "[pmix]") {
  JobData bound = job();
  bound.places = {{Rank(0), "0-1", "SK0:CR0-1"}, {Rank(3), "4", "SK1:CR4"}};
  const Serve serve = make_serve(bound);
  const auto ranks = data_of_ranks(serve);
  REQUIRE(ranks.size() == 6);
  CHECK(text(ranks[0]->items, "pmix.cpuset") == "0-1");
  CHECK(text(ranks[0]->items, "pmix.locstr") == "SK0:CR0-1");
  CHECK(text(ranks[1]->items, "pmix.locstr") == "none");  // not bound
  CHECK(text(ranks[2]->items, "pmix.locstr") == "none");  // of another host
  CHECK(text(ranks[3]->items, "pmix.cpuset") == "4");
  CHECK(text(ranks[3]->items, "pmix.locstr") == "SK1:CR4");
}

TEST_CASE("libpmix is told where all ranks are", "[pmix]") {
  const Serve serve = make_serve(job());
  CHECK(serve.ranks == std::vector{Rank(0), Rank(1), Rank(3)});
  CHECK(text(serve.job, "pmix.nmap") == "algo-1,algo-2,algo-3");
  CHECK(text(serve.job, "pmix.pmap") == "0,1,3;2;4,5");
  CHECK(find(serve.job, "pmix.nmap")->type == Type::NodeNames);
  CHECK(find(serve.job, "pmix.pmap")->type == Type::RanksOfNodes);
  CHECK(number(serve.job, "pmix.job.size") == 6);
  CHECK(number(serve.job, "pmix.univ.size") == 8);
  CHECK(number(serve.job, "pmix.job.napps") == 2);
  CHECK(number(serve.job, "pmix.local.size") == 3);
  CHECK(text(serve.job, "pmix.lpeers") == "0,1,3");
}

TEST_CASE("a host is told of itself", "[pmix]") {
  JobData of_third = job();
  of_third.host = 2;
  of_third.host_name = "algo-3";
  const Serve serve = make_serve(of_third);
  CHECK(serve.ranks == std::vector{Rank(4), Rank(5)});
  CHECK(number(serve.job, "pmix.nodeid") == 2);
  CHECK(number(serve.job, "pmix.lldr") == 4);
  CHECK(text(serve.server, "pmix.hname") == "algo-3");
  CHECK(number(serve.server, "pmix.srv.rank") == 2);
  CHECK(number(serve.server, "pmix.srvr.share") == 1);  // the host's topology, which ranks need not find out
  CHECK(text(serve.server, "pmix.srvr.tmpdir") == "/tmp/sml-run-a/pmix");
}

TEST_CASE("a host without a rank of the job serves those that are spawned there", "[pmix]") {
  JobData late = job();
  late.host = 7;
  late.host_name = "algo-8";
  const Serve serve = make_serve(late);
  CHECK(serve.ranks.empty());
  CHECK(serve.size == 6);
  CHECK(text(serve.server, "pmix.hname") == "algo-8");
  CHECK(number(serve.server, "pmix.srv.rank") == 7);
  CHECK(number(serve.job, "pmix.local.size") == 0);
  CHECK(text(serve.job, "pmix.pmap") == "0,1,3;2;4,5");
}

TEST_CASE("each rank has its place on its host and in its program", "[pmix]") {
  const Serve serve = make_serve(job());
  const std::vector<const Info*> ranks = data_of_ranks(serve);
  REQUIRE(ranks.size() == 6);
  const std::vector<Info>& fourth = ranks[3]->items;
  CHECK(number(fourth, "pmix.rank") == 3);
  CHECK(number(fourth, "pmix.lrank") == 2);
  CHECK(number(fourth, "pmix.appnum") == 0);
  CHECK(number(fourth, "pmix.apprank") == 3);
  const std::vector<Info>& last = ranks[5]->items;
  CHECK(number(last, "pmix.lrank") == 1);
  CHECK(number(last, "pmix.appnum") == 1);
  CHECK(number(last, "pmix.apprank") == 1);
  CHECK(text(last, "pmix.hname") == "algo-3");
}

TEST_CASE("ranks yield where they are more than the cores", "[pmix]") {
  JobData crowded = job();
  crowded.cpus = 2;
  CHECK(find(make_serve(crowded).job, "pmix.ndosub") != nullptr);
  CHECK(plan::find_variable(open_mpi_variables(crowded, {}), "OMPI_MCA_mpi_yield_when_idle") != nullptr);
  crowded.cpus = 3;
  CHECK(find(make_serve(crowded).job, "pmix.ndosub") == nullptr);
  CHECK(plan::find_variable(open_mpi_variables(crowded, {}), "OMPI_MCA_mpi_yield_when_idle") == nullptr);
}

TEST_CASE("what the user has said of Open MPI and PMIx stays", "[pmix]") {
  const plan::Environment theirs{"OMPI_MCA_hwloc_base_binding_policy=core", "PMIX_MCA_gds=shmem2"};
  CHECK(plan::find_variable(open_mpi_variables(job(), theirs), "OMPI_MCA_hwloc_base_binding_policy") == nullptr);
  // None of Open MPI's that takes a rank for one that was started alone: in an allocation of Slurm, of PBS, of ALPS, in
  // any.
  CHECK(plan::variable(open_mpi_variables(job(), theirs), "OMPI_MCA_schizo") == "^alps,moab,orte,slurm");
  CHECK(pmix_variables(theirs) == plan::Environment{"PMIX_MCA_psec=native"});
}

TEST_CASE("all hosts have the same number for PSM, no other job has it", "[pmix]") {
  const auto key_of = [](const JobData& of) {
    return *plan::find_variable(open_mpi_variables(of, {}), "OMPI_MCA_orte_precondition_transports");
  };
  JobData other = job();
  other.host = 1;
  CHECK(key_of(other) == key_of(job()));
  CHECK(key_of(job()).size() == std::string("OMPI_MCA_orte_precondition_transports=").size() + 33);
  other.name_space = "sml-run.job.2";
  CHECK(key_of(other) != key_of(job()));
}

TEST_CASE("libpmix is told of ranks that were spawned, on hosts without one too", "[pmix]") {
  JobData child = job();
  child.parent = Rank(3);
  const AddWorld here = make_world(child, Rank(10));
  CHECK(here.first == Rank(10));
  CHECK(here.size == 6);
  CHECK(here.ranks == std::vector{Rank(10), Rank(11), Rank(13)});
  CHECK(number(here.job, "pmix.spawned") == 1);
  CHECK(number(here.job, "pmix.parent") == 3);
  CHECK(text(here.job, "pmix.lpeers") == "0,1,3");
  child.host = 3;  // none of theirs
  const AddWorld beside = make_world(child, Rank(10));
  CHECK(beside.ranks.empty());
  CHECK(number(beside.job, "pmix.job.size") == 6);
  CHECK(number(beside.job, "pmix.local.size") == 0);
  CHECK(find(beside.job, "pmix.lpeers") == nullptr);
}
