#include "common/plan/environment/presets.h"

#include <nlohmann/json.hpp>
#include <set>

#include "launcher/hosts/host_list.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::plan;

namespace {

struct Job {
  JobMap map;
  std::vector<PresetPort> ports;
  std::vector<std::string> addresses;
};

// Ports are 9000 and up in their order; addresses 10.0.0.1 and up in that of the hosts.
Job job_of(const std::set<Preset>& presets, const char* hosts, std::vector<ProgramShare> programs) {
  const auto list = hosts::parse_host_list(hosts);
  REQUIRE(list.has_value());
  REQUIRE(arrange_programs(presets, programs).has_value());
  const auto map = map_programs({*list, "-H"}, programs, Oversubscribe::No);
  REQUIRE(map.has_value());
  Job out{*map, preset_ports(presets, *map), {}};
  std::uint16_t port = 9000;
  for (PresetPort& p : out.ports) p.port = port++;
  for (std::size_t i = 0; i < map->hosts.size(); ++i) out.addresses.push_back("10.0.0." + std::to_string(i + 1));
  return out;
}

Environment environment_of(const std::set<Preset>& presets, const Job& job, std::uint32_t rank,
                           const Environment& inherited = {}) {
  return preset_environment(presets, job.map, job.map.ranks[rank], {"j", 4, 3, 5},
                            {job.addresses, job.ports, inherited});
}

std::string get(const Environment& environment, std::string_view name) {
  const std::string* entry = find_variable(environment, name);
  return entry == nullptr ? "(unset)" : std::string(value_of(*entry));
}

std::string refusal(const std::set<Preset>& presets, std::vector<ProgramShare> programs) {
  const auto done = arrange_programs(presets, programs);
  return done ? "(taken)" : done.error().message();
}

ProgramShare role(const char* name, std::uint32_t np) { return {.np = np, .hosts = {}, .role = name}; }

}  // namespace

TEST_CASE("presets have names", "[presets]") {
  CHECK(*parse_presets("tf,jax,tf") == std::set{Preset::Tf, Preset::Jax});
  CHECK(*parse_presets("slurm") == std::set{Preset::Slurm});
  for (const char* bad : {"", "torch", "tf,", "TF", "tf jax"}) CHECK_FALSE(parse_presets(bad).has_value());
  CHECK(parse_presets("tf,mxnet").error().message() ==
        "\"mxnet\" is not tf, jax, deepspeed, accelerate, slurm, hydra, openmpi or virtual-local-rank");
  CHECK(parse_presets("torch").error().message() == "\"torch\" needs no preset; leave it out");
  CHECK(parse_presets("tensorflow").error().message().ends_with("or virtual-local-rank; did you mean tf?"));
}

TEST_CASE("tf: workers of one program are a cluster of workers, each at a port of its own", "[presets]") {
  const std::set presets{Preset::Tf};
  const Job job = job_of(presets, "a:2,b:1", {role("default", 3)});
  CHECK(
      get(environment_of(presets, job, 2), "TF_CONFIG") ==
      R"({"cluster":{"worker":["10.0.0.1:9000","10.0.0.1:9001","10.0.0.2:9002"]},"task":{"type":"worker","index":2}})");
}

TEST_CASE("tf: roles are those of the programs, and an evaluator is in no cluster", "[presets]") {
  const std::set presets{Preset::Tf};
  const Job job = job_of(presets, "a:6", {role("ps", 2), role("chief", 1), role("worker", 2), role("evaluator", 1)});
  CHECK(job.map.members() == 4);
  const auto chief = nlohmann::json::parse(get(environment_of(presets, job, 0), "TF_CONFIG"));
  CHECK(chief["task"] == nlohmann::json({{"type", "chief"}, {"index", 0}}));
  CHECK(chief["cluster"]["chief"].size() == 1);
  CHECK(chief["cluster"]["worker"].size() == 2);
  CHECK(chief["cluster"]["ps"] == nlohmann::json({"10.0.0.1:9004", "10.0.0.1:9005"}));
  CHECK_FALSE(chief["cluster"].contains("evaluator"));
  CHECK(nlohmann::json::parse(get(environment_of(presets, job, 3), "TF_CONFIG"))["task"]["type"] == "evaluator");
  CHECK(nlohmann::json::parse(get(environment_of(presets, job, 5), "TF_CONFIG"))["task"] ==
        nlohmann::json({{"type", "ps"}, {"index", 1}}));
  CHECK(job.map.ranks[0].part == Part::Worker);
  CHECK(job.map.ranks[1].part == Part::Server);  // it waits for what the chief asks
  CHECK(job.map.ranks[5].part == Part::Helper);
}

TEST_CASE("tf: without a chief workers work by themselves", "[presets]") {
  const Job job = job_of({Preset::Tf}, "a:3", {role("worker", 2), role("ps", 1)});
  CHECK(job.map.ranks[1].part == Part::Worker);
  CHECK(job.map.ranks[2].part == Part::Helper);
}

TEST_CASE("an address of IPv6 stands in brackets before a port", "[presets]") {
  const std::set presets{Preset::Tf, Preset::Jax};
  Job job = job_of(presets, "a:1", {role("default", 1)});
  job.addresses = {"fd00::1"};
  CHECK(get(environment_of(presets, job, 0), "TF_CONFIG") ==
        R"({"cluster":{"worker":["[fd00::1]:9000"]},"task":{"type":"worker","index":0}})");
  CHECK(get(environment_of(presets, job, 0), "JAX_COORDINATOR_ADDRESS") == "[fd00::1]:9001");
  CHECK(get(environment_of(presets, job, 0), "OMPI_MCA_orte_hnp_uri") == "4096.0;tcp6://[fd00::1]:9001");
}

TEST_CASE("jax: all find the coordinator at rank 0's host", "[presets]") {
  const std::set presets{Preset::Jax};
  const Job job = job_of(presets, "a:1,b:2", {role("default", 3)});
  CHECK(job.ports.size() == 1);
  CHECK(environment_of(presets, job, 2) ==
        Environment{"JAX_COORDINATOR_ADDRESS=10.0.0.1:9000", "JAX_COORDINATOR_PORT=9000", "JAX_NUM_PROCESSES=3",
                    "JAX_PROCESS_ID=2", "OMPI_MCA_orte_hnp_uri=4096.0;tcp://10.0.0.1:9000"});
}

TEST_CASE("deepspeed counts hosts where Horovod counts ranks", "[presets]") {
  const std::set presets{Preset::Deepspeed};
  const Job job = job_of(presets, "a:1,b:2", {role("default", 3)});
  CHECK(environment_of(presets, job, 2) == Environment{"CROSS_RANK=1", "CROSS_SIZE=2"});
}

TEST_CASE("slurm: a task is told its place", "[presets]") {
  const std::set presets{Preset::Slurm};
  const Job job = job_of(presets, "a:2,b:2,c:1", {role("default", 5)});
  const Environment environment = environment_of(presets, job, 3);
  const std::pair<const char*, const char*> expected[] = {
      {"SLURM_PROCID", "3"},
      {"SLURM_NTASKS", "5"},
      {"SLURM_LOCALID", "1"},
      {"SLURM_NODEID", "1"},
      {"SLURM_NNODES", "3"},
      {"SLURM_TASKS_PER_NODE", "2(x2),1"},
      {"SLURM_NODELIST", "a,b,c"},
      {"SLURM_GTIDS", "2,3"},
      {"SLURMD_NODENAME", "b"},
      {"SLURM_STEP_NUM_TASKS", "5"},
      {"SLURM_STEP_NODELIST", "a,b,c"},
      {"SLURM_JOB_NAME", "sml-run"},
      {"SLURM_LAUNCH_NODE_IPADDR", "10.0.0.1"},
  };
  for (const auto& [name, value] : expected) {
    CAPTURE(name);
    CHECK(get(environment, name) == value);
  }
  CHECK(get(environment, "SLURM_JOB_ID").find_first_not_of("0123456789") == std::string::npos);
  CHECK(get(environment, "SLURM_JOB_ID") == get(environment_of(presets, job, 0), "SLURM_JOB_ID"));
}

TEST_CASE("slurm: a job that there is keeps its number and name", "[presets]") {
  const std::set presets{Preset::Slurm};
  const Job job = job_of(presets, "a:1", {role("default", 1)});
  const Environment environment = environment_of(presets, job, 0, {"SLURM_JOB_ID=77", "SLURM_JOB_NAME=x"});
  for (const char* name : {"SLURM_JOB_ID", "SLURM_JOBID", "SLURM_JOB_NAME"}) CHECK(get(environment, name) == "(unset)");
}

TEST_CASE("hydra: what MPICH's launcher tells its processes", "[presets]") {
  const std::set presets{Preset::Hydra};
  const Job job = job_of(presets, "a:1,b:2", {role("default", 3)});
  CHECK(environment_of(presets, job, 2) ==
        Environment{"PMI_RANK=2", "PMI_SIZE=3", "MPI_LOCALRANKID=1", "MPI_LOCALNRANKS=2"});
}

TEST_CASE("helpers are given nothing that counts ranks", "[presets]") {
  const std::set presets{Preset::Tf, Preset::Slurm, Preset::Jax};
  const Job job = job_of(presets, "a:2", {role("worker", 1), role("ps", 1)});
  for (const std::string& entry : environment_of(presets, job, 1)) CHECK(entry.starts_with("TF_CONFIG="));
  CHECK(get(rank_environment(job.map, job.map.ranks[1], {"j", 0, 0}), "RANK") == "(unset)");
  CHECK(get(rank_environment(job.map, job.map.ranks[1], {"j", 0, 0}), "ROLE_NAME") == "ps");
  CHECK(get(rank_environment(job.map, job.map.ranks[0], {"j", 0, 0}), "WORLD_SIZE") == "1");
}

TEST_CASE("roles that a framework does not know are refused", "[presets]") {
  CHECK(refusal({Preset::Tf}, {role("server", 1)}) ==
        "--role server: --preset tf knows the roles chief, worker, ps, evaluator");
  CHECK(refusal({Preset::Jax}, {role("anything", 1)}) == "(taken)");
}

TEST_CASE("every variable of a preset is documented, and no launcher's own survives beside it", "[presets]") {
  std::set<std::string_view> documented;
  for (const VariableMeaning& v : preset_variables()) {
    CHECK(documented.insert(v.name).second);
    CHECK_FALSE(v.meaning.empty());
  }
  CHECK(preset_defaults({Preset::Accelerate}) ==
        Environment{"ACCELERATE_MIXED_PRECISION=no", "ACCELERATE_DYNAMO_BACKEND=NO", "ACCELERATE_DYNAMO_MODE=default",
                    "ACCELERATE_DYNAMO_USE_DYNAMIC=False", "ACCELERATE_DYNAMO_USE_FULLGRAPH=False",
                    "ACCELERATE_DYNAMO_USE_REGIONAL_COMPILATION=False"});
  CHECK(preset_defaults({Preset::Tf}).empty());
}
