#include "common/plan/environment/worker_env.h"
#include "common/plan/environment/kept_back.h"

#include <algorithm>
#include <optional>
#include <set>

#include "launcher/hosts/host_list.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::plan;

namespace {
JobMap map_of(const char* text) {
  const auto list = hosts::parse_host_list(text);
  REQUIRE(list.has_value());
  const auto map = map_job({*list, "-H"}, std::nullopt, Oversubscribe::No);
  REQUIRE(map.has_value());
  return *map;
}

// The value of a name, "(unset)" when it has none.
std::string get(const Environment& environment, std::string_view name) {
  const std::string* entry = find_variable(environment, name);
  return entry == nullptr ? "(unset)" : std::string(value_of(*entry));
}
}  // namespace

TEST_CASE("entries are cut at the first equals sign") {
  CHECK(name_of("A=b=c") == "A");
  CHECK(value_of("A=b=c") == "b=c");
  CHECK(name_of("A") == "A");
  CHECK(value_of("A") == "");
  CHECK(value_of("A=") == "");
  const Environment twice{"A=1", "A=2"};
  CHECK(*find_variable(twice, "A") == "A=2");
  CHECK(find_variable(twice, "B") == nullptr);
}

TEST_CASE("every rank gets the names of torch, Open MPI and Horovod") {
  // All of the numbers of rank 10 differ, so that none can stand for another.
  const JobMap map = map_of("a:3,b:3,c:1,d:1,e:1,f:4");
  const Environment environment = rank_environment(map, map.ranks[10], {"sml-7", 7, 5, 8});
  const std::pair<const char*, const char*> expected[] = {
      {"RANK", "10"},
      {"WORLD_SIZE", "13"},
      {"LOCAL_RANK", "1"},
      {"LOCAL_WORLD_SIZE", "4"},
      {"GROUP_RANK", "5"},
      {"GROUP_WORLD_SIZE", "6"},
      {"ROLE_NAME", "default"},
      {"ROLE_RANK", "10"},
      {"ROLE_WORLD_SIZE", "13"},
      {"TORCHELASTIC_RUN_ID", "sml-7"},
      {"TORCHELASTIC_RESTART_COUNT", "5"},
      {"TORCHELASTIC_MAX_RESTARTS", "8"},
      {"LOCAL_SIZE", "4"},
      {"CROSS_RANK", "2"},
      {"CROSS_SIZE", "3"},
      {"OMPI_COMM_WORLD_RANK", "10"},
      {"OMPI_COMM_WORLD_SIZE", "13"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
      {"OMPI_COMM_WORLD_NODE_RANK", "1"},
      {"HOROVOD_HOSTNAME", "f"},
      {"HOROVOD_RANK", "10"},
      {"HOROVOD_SIZE", "13"},
      {"HOROVOD_LOCAL_RANK", "1"},
      {"HOROVOD_LOCAL_SIZE", "4"},
      {"HOROVOD_CROSS_RANK", "2"},
      {"HOROVOD_CROSS_SIZE", "3"},
      {"SML_RANK", "10"},
      {"SML_WORLD_SIZE", "13"},
      {"SML_LOCAL_RANK", "1"},
      {"SML_LOCAL_SIZE", "4"},
      {"SML_HOST", "f"},
      {"SML_JOB_ID", "sml-7"},
      {"SML_ATTEMPT", "8"},
  };
  for (const auto& [name, value] : expected) {
    CAPTURE(name);
    CHECK(get(environment, name) == value);
  }
  CHECK(environment.size() == std::size(expected));
}

TEST_CASE("the rendezvous is the same for all ranks") {
  CHECK(rendezvous_environment({"10.0.0.1", 29500, 29501, TorchStore::OfAgent}) ==
        Environment{"MASTER_ADDR=10.0.0.1", "MASTER_PORT=29500", "TORCHELASTIC_USE_AGENT_STORE=True",
                    "HOROVOD_GLOO_RENDEZVOUS_ADDR=10.0.0.1", "HOROVOD_GLOO_RENDEZVOUS_PORT=29501",
                    "HOROVOD_CONTROLLER=gloo", "HOROVOD_CPU_OPERATIONS=gloo"});
  CHECK(get(rendezvous_environment({"fd00::1", 1, 2, TorchStore::OfRank0}), "TORCHELASTIC_USE_AGENT_STORE") == "False");
}

TEST_CASE("what we set per rank, an outer launcher may have set: all of it is kept out of the base") {
  const JobMap map = map_of("a:1");
  for (const std::string& entry : rank_environment(map, map.ranks[0], {"j", 0, 0})) {
    CAPTURE(entry);
    CHECK(set_by_a_launcher(name_of(entry)));
  }
  for (const char* name : {"MASTER_ADDR",
                           "MASTER_PORT",
                           "NODE_RANK",
                           "PMI_RANK",
                           "PMI_FD",
                           "PMIX_RANK",
                           "PMIX_NAMESPACE",
                           "OMPI_UNIVERSE_SIZE",
                           "OMPI_MCA_orte_hnp_uri",
                           "OMPI_MCA_ess",
                           "MPI_LOCALRANKID",
                           "SLURM_PROCID",
                           "SLURM_LOCALID",
                           "SLURM_STEP_NODELIST",
                           "TORCHELASTIC_ERROR_FILE",
                           "HOROVOD_GLOO_RENDEZVOUS_ADDR",
                           "HOROVOD_CONTROLLER",
                           "SML_ANYTHING",
                           "MV2_COMM_WORLD_RANK",
                           "FLUX_TASK_RANK",
                           "TF_CONFIG",
                           "DMLC_ROLE",
                           "DMLC_PS_ROOT_URI",
                           "DMLC_NUM_SERVER",
                           "DMLC_WORKER_ID"}) {
    CAPTURE(name);
    CHECK(set_by_a_launcher(name));
  }
}

TEST_CASE("settings of the same frameworks are the user's") {
  for (const char* name :
       {"OMPI_MCA_btl", "OMPI_ALLOW_RUN_AS_ROOT", "PMIX_MCA_gds", "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE",
        "HOROVOD_TIMELINE", "HOROVOD_FUSION_THRESHOLD", "DMLC_INTERFACE", "DMLC_PS_VAN_TYPE", "SLURM_JOB_ID",
        "SLURM_JOB_NODELIST", "NCCL_DEBUG", "RANKS", "MY_RANK", "WORLD", "TORCH_HOME", "PATH", "SM_HOSTS", "SMLX"}) {
    CAPTURE(name);
    CHECK_FALSE(set_by_a_launcher(name));
    CHECK_FALSE(bound_to_host(name));
  }
}

TEST_CASE("what belongs to a host or a log-in does not travel") {
  for (const char* name : {"HOME",
                           "USER",
                           "LOGNAME",
                           "SHELL",
                           "PWD",
                           "OLDPWD",
                           "HOSTNAME",
                           "TMPDIR",
                           "DISPLAY",
                           "SSH_AUTH_SOCK",
                           "SSH_CONNECTION",
                           "XDG_RUNTIME_DIR",
                           "DBUS_SESSION_BUS_ADDRESS",
                           "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                           "CUDA_VISIBLE_DEVICES",
                           "ROCR_VISIBLE_DEVICES",
                           "NVIDIA_VISIBLE_DEVICES",
                           "BASH_FUNC_f%%",
                           "NOTIFY_SOCKET",
                           "SM_CURRENT_HOST",
                           "_"}) {
    CAPTURE(name);
    CHECK(bound_to_host(name));
  }
  const Environment travels = for_other_hosts(Environment{"HOME=/root", "A=1", "RANK=3", "LD_LIBRARY_PATH=/x", "A=1"});
  CHECK(travels == Environment{"A=1", "LD_LIBRARY_PATH=/x", "A=1"});
}

TEST_CASE("ENV travels, as programs are configured by it") {
  CHECK(for_other_hosts(Environment{"ENV=prod"}) == Environment{"ENV=prod"});
}

TEST_CASE("in a job of Slurm what bash begins with travels, as under srun") {
  const Environment script{"BASH_ENV=/etc/m.sh", "SHLVL=1", "BASH_FUNC_module%%=() { :; }", "SSH_TTY=/dev/pts/0"};
  CHECK(for_other_hosts(script).empty());
  Environment in_slurm = script;
  in_slurm.insert(in_slurm.end(), {"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-2]"});
  Environment wanted = in_slurm;
  std::erase(wanted, "SSH_TTY=/dev/pts/0");
  CHECK(for_other_hosts(in_slurm) == wanted);
}

TEST_CASE("later layers win") {
  const Environment login{"HOME=/home/remote", "PATH=/login", "L=login", "RANK=9"};
  const Environment launcher{"PATH=/launcher", "A=base", "B=base", "C=base", "PMI_RANK=4", "A=base2"};
  const Environment user{"B=file", "B=x", "RANK=user", "C=user"};
  const Environment job{"RANK=0", "C=job"};
  EnvironmentLayers layers;
  layers.login = login;
  layers.launcher = launcher;
  layers.user = user;
  layers.job = job;
  layers.working_directory = "/work";

  layers.base = BaseEnvironment::LauncherOverLogin;
  const Environment remote = compose(layers);
  CHECK(get(remote, "HOME") == "/home/remote");
  CHECK(get(remote, "PATH") == "/launcher");
  CHECK(get(remote, "L") == "login");
  CHECK(get(remote, "A") == "base2");
  CHECK(get(remote, "B") == "x");
  CHECK(get(remote, "C") == "job");
  CHECK(get(remote, "RANK") == "0");
  CHECK(get(remote, "PWD") == "/work");
  CHECK(get(remote, "PMI_RANK") == "(unset)");

  layers.base = BaseEnvironment::Login;
  const Environment bare = compose(layers);
  CHECK(get(bare, "PATH") == "/login");
  CHECK(get(bare, "A") == "(unset)");
  CHECK(get(bare, "B") == "x");

  layers.base = BaseEnvironment::Launcher;
  const Environment local = compose(layers);
  CHECK(get(local, "PATH") == "/launcher");
  CHECK(get(local, "L") == "(unset)");
}

TEST_CASE("the user may set a name of another launcher that we do not set") {
  const Environment user{"PMI_RANK=7"};
  EnvironmentLayers layers;
  layers.user = user;
  CHECK(get(compose(layers), "PMI_RANK") == "7");
}

TEST_CASE("names are unique and sorted, values are bytes") {
  const Environment launcher{"Z=1", "A=\xff\n=$(x)", "A.B=1", "A=", "A=last\xfe", "EMPTY="};
  EnvironmentLayers layers;
  layers.launcher = launcher;
  const Environment out = compose(layers);
  CHECK(out == Environment{"A=last\xfe", "A.B=1", "EMPTY=", "PYTHONFAULTHANDLER=1", "PYTHONUNBUFFERED=1",
                           "TORCH_NCCL_ASYNC_ERROR_HANDLING=1", "Z=1"});
}

TEST_CASE("defaults give way to whatever is set below or by the user") {
  EnvironmentLayers layers;
  CHECK(get(compose(layers), "PYTHONUNBUFFERED") == "1");
  const Environment base{"TORCH_NCCL_ASYNC_ERROR_HANDLING=0"};
  const Environment user{"PYTHONUNBUFFERED="};
  layers.launcher = base;
  layers.user = user;
  const Environment out = compose(layers);
  CHECK(get(out, "TORCH_NCCL_ASYNC_ERROR_HANDLING") == "0");
  CHECK(get(out, "PYTHONUNBUFFERED") == "");
}

TEST_CASE("every variable that a worker gets is documented, once") {
  const JobMap map = map_of("a:1");
  const Environment rank = rank_environment(map, map.ranks[0], {"j", 0, 0});
  const Environment rendezvous = rendezvous_environment({"a", 1, 2, TorchStore::OfAgent, true});
  Environment job = rank;
  job.insert(job.end(), rendezvous.begin(), rendezvous.end());
  EnvironmentLayers layers;
  layers.job = job;
  layers.working_directory = "/";
  std::set<std::string_view> documented;
  for (const VariableMeaning& v : worker_variables()) {
    CAPTURE(v.name);
    CHECK(documented.insert(v.name).second);
    CHECK_FALSE(v.meaning.empty());
  }
  std::set<std::string_view> set;
  const Environment all = compose(layers);
  for (const std::string& entry : all) set.insert(name_of(entry));
  set.insert("OMP_NUM_THREADS");  // by the agent, which knows the processors
  CHECK(documented == set);
}

TEST_CASE("what is set for a rank can be shown, less what nobody should see") {
  const JobMap map = map_of("a:1,b:2");
  const Environment user{"WANDB_API_KEY=abc", "LEVEL=3", "PYTHONUNBUFFERED=0"};
  const Environment shown = shown_environment(map, map.ranks[2], {"j", 0, 0}, user, TorchStore::OfAgent);
  CHECK(get(shown, "RANK") == "2");
  CHECK(get(shown, "LOCAL_RANK") == "1");
  CHECK(get(shown, "MASTER_ADDR") == "(known at the start)");
  CHECK(get(shown, "HOROVOD_GLOO_RENDEZVOUS_PORT") == "(known at the start)");
  CHECK(get(shown, "HOROVOD_CONTROLLER") == "gloo");
  CHECK(get(shown, "TORCHELASTIC_USE_AGENT_STORE") == "True");
  CHECK(get(shown, "LEVEL") == "3");
  CHECK(get(shown, "PYTHONUNBUFFERED") == "0");
  CHECK(get(shown, "TORCH_NCCL_ASYNC_ERROR_HANDLING") == "1");
  CHECK(get(shown, "WANDB_API_KEY") == "(hidden)");
  CHECK(get(shown, "PATH") == "(unset)");
  CHECK(get(shown, "TORCHELASTIC_ERROR_FILE") == "(known at the start)");
  CHECK(get(shown, "GLOO_SOCKET_IFNAME") == "(known at the start)");
  CHECK(get(shown, "OMP_NUM_THREADS") == "(known at the start)");
  const Environment theirs{"OMP_NUM_THREADS=3", "NCCL_SOCKET_IFNAME=ib0"};
  const Environment kept = shown_environment(map, map.ranks[2], {"j", 0, 0}, theirs, TorchStore::OfAgent);
  CHECK(get(kept, "OMP_NUM_THREADS") == "3");
  CHECK(get(kept, "NCCL_SOCKET_IFNAME") == "ib0");
}

TEST_CASE("one host needs no interface to be shown") {
  const JobMap map = map_of("a:2");
  const Environment shown = shown_environment(map, map.ranks[1], {"j", 0, 0}, {}, TorchStore::OfAgent);
  CHECK(get(shown, "GLOO_SOCKET_IFNAME") == "(unset)");
}

TEST_CASE("slots that were chosen by number are the devices that workers see") {
  HostList list{{{"a", "", 2}, {"b", "", 1}}, "-H"};
  list.hosts[0].slot_numbers = {1, 3};
  const auto map = map_job(list, std::nullopt, Oversubscribe::No);
  REQUIRE(map.has_value());
  const std::string name = "CUDA_VISIBLE_DEVICES";
  const Environment chosen = rank_environment(*map, map->ranks[0], {});
  const Environment other = rank_environment(*map, map->ranks[2], {});
  REQUIRE(find_variable(chosen, name) != nullptr);
  CHECK(*find_variable(chosen, name) == "CUDA_VISIBLE_DEVICES=1,3");
  CHECK(find_variable(other, name) == nullptr);
}
