#include "common/plan/environment/worker_env.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/plan/environment/kept_back.h"
#include "common/plan/environment/rendezvous_variables.h"
#include "common/plan/environment/secrets.h"

namespace sml::plan {

namespace {

// ---- variables that sml-run sets

struct RankContext {
  const JobMap& map;
  const RankAssignment& rank;
  const JobIdentity& job;
  const std::string& host_name() const { return map.hosts[rank.host.value()].host.name; }
};

std::string text(std::uint32_t number) { return std::to_string(number); }
std::string rank_number(const RankContext& c) { return text(c.rank.rank.value()); }
std::string world_size(const RankContext& c) { return text(c.map.members()); }
std::string local_rank(const RankContext& c) { return text(c.rank.local_rank.value()); }
std::string local_size(const RankContext& c) { return text(c.rank.local_size); }
std::string cross_rank(const RankContext& c) { return text(c.rank.cross_rank); }
std::string cross_size(const RankContext& c) { return text(c.rank.cross_size); }
std::string group_rank(const RankContext& c) { return text(c.rank.group_rank); }
std::string group_world_size(const RankContext& c) { return text(c.map.member_hosts()); }
std::string host_name(const RankContext& c) { return c.host_name(); }
std::string job_id(const RankContext& c) { return c.job.job_id; }
std::string run_id(const RankContext& c) { return c.job.run_id.empty() ? c.job.job_id : c.job.run_id; }
std::string restarts(const RankContext& c) { return text(c.job.restarts); }
std::string try_number(const RankContext& c) { return text(c.job.attempt + 1); }
std::string max_restarts(const RankContext& c) { return text(c.job.max_restarts); }
std::string role(const RankContext& c) { return c.map.roles.empty() ? "default" : c.map.roles[c.rank.program]; }
std::string role_rank(const RankContext& c) {
  return text(c.rank.role_size == 0 ? c.rank.rank.value() : c.rank.role_rank);
}
std::string role_size(const RankContext& c) { return text(c.rank.role_size == 0 ? c.map.members() : c.rank.role_size); }

struct RankVariable {
  std::string_view name;
  std::string (*value)(const RankContext&);
  std::string_view meaning;
};

constexpr std::array kRankVariables{
    RankVariable{"RANK", rank_number, "rank of the worker: 0 to WORLD_SIZE-1, unique in the job"},
    RankVariable{"WORLD_SIZE", world_size, "number of workers of the job"},
    RankVariable{"LOCAL_RANK", local_rank, "index of the worker among those of its host"},
    RankVariable{"LOCAL_WORLD_SIZE", local_size, "number of workers on this host"},
    RankVariable{"GROUP_RANK", group_rank, "index of the host among the hosts that have workers"},
    RankVariable{"GROUP_WORLD_SIZE", group_world_size, "number of hosts that have workers"},
    RankVariable{"ROLE_NAME", role, "role of the worker, from --role; else \"default\""},
    RankVariable{"ROLE_RANK", role_rank, "index among the workers of this role"},
    RankVariable{"ROLE_WORLD_SIZE", role_size, "number of workers of this role"},
    RankVariable{"TORCHELASTIC_RUN_ID", run_id, "id of the job, from --run-id; else a unique one"},
    RankVariable{"TORCHELASTIC_RESTART_COUNT", restarts, "restarts that were used before this run"},
    RankVariable{"TORCHELASTIC_MAX_RESTARTS", max_restarts, "restarts that are allowed"},
    RankVariable{"LOCAL_SIZE", local_size, "as LOCAL_WORLD_SIZE"},
    RankVariable{"CROSS_RANK", cross_rank, "number of earlier hosts that have this LOCAL_RANK too"},
    RankVariable{"CROSS_SIZE", cross_size, "number of hosts that have this LOCAL_RANK"},
    RankVariable{"OMPI_COMM_WORLD_RANK", rank_number, "as RANK, for programs written for Open MPI"},
    RankVariable{"OMPI_COMM_WORLD_SIZE", world_size, "as WORLD_SIZE"},
    RankVariable{"OMPI_COMM_WORLD_LOCAL_RANK", local_rank, "as LOCAL_RANK"},
    RankVariable{"OMPI_COMM_WORLD_LOCAL_SIZE", local_size, "as LOCAL_WORLD_SIZE"},
    RankVariable{"OMPI_COMM_WORLD_NODE_RANK", local_rank, "as LOCAL_RANK"},
    RankVariable{"HOROVOD_HOSTNAME", host_name, "name of the host as the host list gives it"},
    RankVariable{"HOROVOD_RANK", rank_number, "as RANK, for Horovod"},
    RankVariable{"HOROVOD_SIZE", world_size, "as WORLD_SIZE"},
    RankVariable{"HOROVOD_LOCAL_RANK", local_rank, "as LOCAL_RANK"},
    RankVariable{"HOROVOD_LOCAL_SIZE", local_size, "as LOCAL_WORLD_SIZE"},
    RankVariable{"HOROVOD_CROSS_RANK", cross_rank, "as CROSS_RANK"},
    RankVariable{"HOROVOD_CROSS_SIZE", cross_size, "as CROSS_SIZE"},
    RankVariable{"SML_RANK", rank_number, "as RANK"},
    RankVariable{"SML_WORLD_SIZE", world_size, "as WORLD_SIZE"},
    RankVariable{"SML_LOCAL_RANK", local_rank, "as LOCAL_RANK"},
    RankVariable{"SML_LOCAL_SIZE", local_size, "as LOCAL_WORLD_SIZE"},
    RankVariable{"SML_HOST", host_name, "name of the host as the host list gives it"},
    RankVariable{"SML_JOB_ID", job_id, "id of the job, unique"},
    RankVariable{"SML_ATTEMPT", try_number, "1 for the first run of the workers, and one more after each restart"},
};

bool is_of_sml_run(std::string_view name) { return name.starts_with("SML_"); }

// Helpers are not members of the world; they get only variables that identify them within the job.
bool tells_helpers(std::string_view name) {
  return is_of_sml_run(name) || name.starts_with("ROLE_") || name.starts_with("TORCHELASTIC_");
}

constexpr std::string_view kMasterAddress = "MASTER_ADDR";
constexpr std::string_view kMasterPort = "MASTER_PORT";
constexpr std::string_view kTorchAgentStore = "TORCHELASTIC_USE_AGENT_STORE";
constexpr std::string_view kHorovodAddress = "HOROVOD_GLOO_RENDEZVOUS_ADDR";
constexpr std::string_view kHorovodPort = "HOROVOD_GLOO_RENDEZVOUS_PORT";
constexpr std::string_view kHorovodController = "HOROVOD_CONTROLLER";
constexpr std::string_view kHorovodOperations = "HOROVOD_CPU_OPERATIONS";
constexpr std::string_view kHorovodElastic = "HOROVOD_ELASTIC";
constexpr std::string_view kWorkingDirectory = "PWD";
constexpr std::string_view kThreads = "OMP_NUM_THREADS";
constexpr std::string_view kErrorFile = "TORCHELASTIC_ERROR_FILE";
constexpr std::array<std::string_view, 3> kInterfaces{"GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME", "HOROVOD_GLOO_IFACE"};

constexpr std::array kOtherVariables{
    VariableMeaning{kMasterAddress, "address of rank 0's host that every host reaches"},
    VariableMeaning{kMasterPort, "port of torch's store there; with --no-torch-store a port that is free"},
    VariableMeaning{kTorchAgentStore,
                    "True: torch's store is there already; with --no-torch-store False: rank 0 opens it"},
    VariableMeaning{kHorovodAddress, "as MASTER_ADDR, where Horovod's store listens"},
    VariableMeaning{kHorovodPort, "its port"},
    VariableMeaning{kHorovodController, "gloo: Horovod's processes meet at that store"},
    VariableMeaning{kHorovodOperations, "gloo"},
    VariableMeaning{kHorovodElastic, "1 where --elastic is given"},
    VariableMeaning{kWorkingDirectory, "the working directory"},
    VariableMeaning{kThreads, "unless set: CPUs of the host divided by its workers, at least 1"},
};

struct DefaultVariable {
  std::string_view name;
  std::string_view value;
  std::string_view meaning;
};
constexpr std::array kDefaults{
    DefaultVariable{"PYTHONUNBUFFERED", "1", "unless set: 1, so that output is seen when it is printed"},
    DefaultVariable{"PYTHONFAULTHANDLER", "1",
                    "unless set: 1, so that Python's stacks are printed when a signal ends it"},
    // The name used before torch 2.2 is not set: torch 2 has the default 1, and newer versions warn about that name in
    // every rank.
    DefaultVariable{"TORCH_NCCL_ASYNC_ERROR_HANDLING", "1",
                    "unless set: 1, so that a broken collective ends the worker"},
};

std::string entry(std::string_view name, std::string_view value) {
  std::string out;
  out.reserve(name.size() + 1 + value.size());
  out += name;
  out += '=';
  out += value;
  return out;
}

// ---- composing

// Collects entries; of several entries with the same name the last one stays.
class Composer {
 public:
  void add_base(std::span<const std::string> layer) {
    for (const std::string& e : layer) {
      if (!set_by_a_launcher(name_of(e))) entries_.push_back(e);
    }
  }
  void add(std::span<const std::string> layer) { entries_.insert(entries_.end(), layer.begin(), layer.end()); }
  void add(std::string_view name, std::string_view value) { entries_.push_back(entry(name, value)); }
  void add_unless_set(std::string_view name, std::string_view value) {
    if (find_variable(entries_, name) == nullptr) add(name, value);
  }
  Environment finish() && {
    const auto by_name = [](const std::string& a, const std::string& b) { return name_of(a) < name_of(b); };
    std::stable_sort(entries_.begin(), entries_.end(), by_name);
    Environment out;
    out.reserve(entries_.size());
    for (std::string& e : entries_) {
      if (!out.empty() && name_of(out.back()) == name_of(e)) {
        out.back() = std::move(e);
      } else {
        out.push_back(std::move(e));
      }
    }
    return out;
  }

 private:
  Environment entries_;
};

void add_base_layers(Composer& composer, const EnvironmentLayers& layers) {
  if (layers.base != BaseEnvironment::Launcher) composer.add_base(layers.login);
  if (layers.base != BaseEnvironment::Login) composer.add_base(layers.launcher);
}

}  // namespace

bool tells_of_world(std::string_view name) {
  const auto is_of_rank = [name](const RankVariable& v) { return v.name == name; };
  if (std::any_of(kRankVariables.begin(), kRankVariables.end(), is_of_rank)) return !is_of_sml_run(name);
  return name.starts_with("MASTER_") || name.starts_with("TORCHELASTIC_") || name.starts_with("HOROVOD_");
}

std::vector<VariableMeaning> worker_variables() {
  std::vector<VariableMeaning> out;
  for (const RankVariable& v : kRankVariables) out.push_back({v.name, v.meaning});
  out.insert(out.end(), kOtherVariables.begin(), kOtherVariables.end());
  for (const DefaultVariable& v : kDefaults) out.push_back({v.name, v.meaning});
  return out;
}

Environment rank_environment(const JobMap& map, const RankAssignment& rank, const JobIdentity& job) {
  const RankContext context{map, rank, job};
  Environment out;
  out.reserve(kRankVariables.size());
  for (const RankVariable& v : kRankVariables) {
    if (rank.part != Part::Helper || tells_helpers(v.name)) out.push_back(entry(v.name, v.value(context)));
  }
  std::string devices;
  for (const std::uint32_t slot : map.hosts[rank.host.value()].host.slot_numbers) {
    devices += (devices.empty() ? "" : ",") + std::to_string(slot);
  }
  if (!devices.empty()) out.push_back(entry("CUDA_VISIBLE_DEVICES", devices));
  return out;
}

Environment rendezvous_environment(const Rendezvous& rendezvous) {
  const bool hosted = rendezvous.torch_store == TorchStore::OfAgent;
  Environment out{entry(kMasterAddress, rendezvous.address),
                  entry(kMasterPort, std::to_string(rendezvous.port)),
                  entry(kTorchAgentStore, hosted ? "True" : "False"),
                  entry(kHorovodAddress, rendezvous.address),
                  entry(kHorovodPort, std::to_string(rendezvous.horovod_port)),
                  entry(kHorovodController, "gloo"),
                  entry(kHorovodOperations, "gloo")};
  if (rendezvous.elastic) out.push_back(entry(kHorovodElastic, "1"));
  return out;
}

Environment shown_environment(const JobMap& map, const RankAssignment& rank, const JobIdentity& job,
                              std::span<const std::string> user, TorchStore torch_store,
                              std::span<const std::string> preset) {
  static constexpr std::string_view kUnknown = "(known at the start)";
  Environment theirs;  // overridden by the user's
  if (map.hosts.size() > 1) {
    for (const std::string_view name : kInterfaces) theirs.push_back(entry(name, kUnknown));
  }
  theirs.push_back(entry(kThreads, kUnknown));
  theirs.insert(theirs.end(), user.begin(), user.end());
  Environment ours = rank_environment(map, rank, job);
  ours.push_back(entry(kErrorFile, kUnknown));
  for (std::string& e :
       rendezvous_environment({.address = "", .port = 0, .horovod_port = 0, .torch_store = torch_store})) {
    if (user_decides(name_of(e)) && find_variable(user, name_of(e)) != nullptr) continue;
    const bool met = name_of(e).ends_with("_ADDR") || name_of(e).ends_with("_PORT");
    ours.push_back(met ? entry(name_of(e), kUnknown) : std::move(e));
  }
  if (job.world == WorldTold::No) {
    std::erase_if(ours, [](const std::string& e) { return tells_of_world(name_of(e)); });
    std::erase_if(theirs, [](const std::string& e) { return value_of(e) == kUnknown && tells_of_world(name_of(e)); });
  }
  ours.insert(ours.end(), preset.begin(), preset.end());
  EnvironmentLayers layers;
  layers.base = BaseEnvironment::Login;
  layers.user = theirs;
  layers.job = ours;
  Environment out = compose(layers);
  for (std::string& e : out) {
    const bool secret = names_a_secret(name_of(e)) || holds_a_secret(e);
    if (find_variable(ours, name_of(e)) == nullptr && secret) e = entry(name_of(e), "(hidden)");
  }
  return out;
}

Environment compose(const EnvironmentLayers& layers) {
  Composer composer;
  add_base_layers(composer, layers);
  composer.add(layers.user);
  for (const DefaultVariable& v : kDefaults) composer.add_unless_set(v.name, v.value);
  composer.add(layers.job);
  if (!layers.working_directory.empty()) composer.add(kWorkingDirectory, layers.working_directory);
  return std::move(composer).finish();
}

Environment with_job(const Environment& composed, std::span<const std::string> job) {
  const auto before = [](const std::string& a, std::string_view b) { return name_of(a) < b; };
  Environment out = composed;
  out.reserve(out.size() + job.size());
  for (const std::string& e : job) {
    const auto at = std::lower_bound(out.begin(), out.end(), name_of(e), before);
    if (at != out.end() && name_of(*at) == name_of(e)) {
      *at = e;
    } else {
      out.insert(at, e);
    }
  }
  return out;
}

}  // namespace sml::plan
