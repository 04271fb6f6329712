#include "common/plan/environment/presets.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "common/core/text.h"

namespace sml::plan {

namespace {

struct NamedPreset {
  std::string_view name;
  Preset preset;
};
constexpr std::array kPresets{NamedPreset{"tf", Preset::Tf},
                              NamedPreset{"jax", Preset::Jax},
                              NamedPreset{"deepspeed", Preset::Deepspeed},
                              NamedPreset{"accelerate", Preset::Accelerate},
                              NamedPreset{"slurm", Preset::Slurm},
                              NamedPreset{"hydra", Preset::Hydra},
                              NamedPreset{"openmpi", Preset::OpenMpi},
                              NamedPreset{"virtual-local-rank", Preset::VirtualLocalRank}};

constexpr std::string_view kWorker = "worker";
constexpr std::string_view kChief = "chief";
constexpr std::string_view kParameterServer = "ps";
constexpr std::string_view kEvaluator = "evaluator";
constexpr std::string_view kUnnamed = "default";

// ---- parts of values

struct Context {
  const JobMap& map;
  const RankAssignment& rank;
  const JobIdentity& job;
  const PresetFacts& facts;
};

std::string_view role_of(const JobMap& map, const RankAssignment& rank) {
  const std::string_view role = map.roles.empty() ? kUnnamed : std::string_view(map.roles[rank.program]);
  return role == kUnnamed ? kWorker : role;
}
std::string_view role_of(const Context& c) { return role_of(c.map, c.rank); }

std::uint32_t role_rank(const RankAssignment& rank) { return rank.role_size == 0 ? rank.rank.value() : rank.role_rank; }

const PresetPort* find_port(const Context& c, Preset preset) {
  const auto is_it = [&](const PresetPort& p) { return p.preset == preset; };
  const auto found = std::find_if(c.facts.ports.begin(), c.facts.ports.end(), is_it);
  return found == c.facts.ports.end() ? nullptr : &*found;
}

std::string in_brackets(const std::string& address) {
  return address.find(':') == std::string::npos ? address : "[" + address + "]";
}
std::string port_text(const PresetPort& p) { return p.port == 0 ? "(port)" : std::to_string(p.port); }
const std::string& address_of(const Context& c, HostIndex host) { return c.facts.addresses[host.value()]; }
std::string endpoint(const Context& c, const PresetPort& p) {
  return in_brackets(address_of(c, p.host)) + ":" + port_text(p);
}

std::string text(std::uint64_t number) { return std::to_string(number); }
std::string local_size(const Context& c) { return text(c.rank.local_size); }
std::string rank_number(const Context& c) { return text(c.rank.rank.value()); }
std::string members(const Context& c) { return text(c.map.members()); }
std::string local_rank(const Context& c) { return text(c.rank.local_rank.value()); }
std::string host_number(const Context& c) { return text(c.rank.group_rank); }

bool has_members(const JobMap& map, const MappedHost& host) {
  return !host.ranks.empty() && host.ranks.front().value() < map.members();
}
std::string host_count(const Context& c) {
  const auto counts = [&](const MappedHost& host) { return has_members(c.map, host); };
  return text(static_cast<std::uint64_t>(std::count_if(c.map.hosts.begin(), c.map.hosts.end(), counts)));
}

// ---- tf

// Addresses, ports and roles need no escapes in JSON.
std::string tf_config(const Context& c) {
  std::map<std::string_view, std::string> by_role;  // an evaluator is not part of the cluster
  for (const PresetPort& p : c.facts.ports) {
    if (p.preset != Preset::Tf) continue;
    const std::string_view role = role_of(c.map, c.map.ranks[p.rank.value()]);
    if (role == kEvaluator) continue;
    std::string& list = by_role[role];
    list += (list.empty() ? "\"" : ",\"") + endpoint(c, p) + "\"";
  }
  std::string cluster;
  for (const auto& [role, list] : by_role) {
    cluster += (cluster.empty() ? "\"" : ",\"") + std::string(role) + "\":[" + list + "]";
  }
  return "{\"cluster\":{" + cluster + "},\"task\":{\"type\":\"" + std::string(role_of(c)) +
         "\",\"index\":" + text(role_rank(c.rank)) + "}}";
}

// ---- jax: uses the form of Open MPI, which every version of JAX recognizes, and the numbers of which are set anyway

std::string jax_address(const Context& c) { return endpoint(c, *find_port(c, Preset::Jax)); }
std::string jax_port(const Context& c) { return port_text(*find_port(c, Preset::Jax)); }
std::string jax_uri(const Context& c) {
  constexpr std::string_view kAnyJob = "4096";
  const PresetPort* own = find_port(c, Preset::Jax);
  const PresetPort& port = own != nullptr ? *own : *find_port(c, Preset::OpenMpi);
  const bool v6 = address_of(c, port.host).find(':') != std::string::npos;
  return std::string(kAnyJob) + ".0;" + (v6 ? "tcp6://" : "tcp://") + endpoint(c, port);
}

// ---- slurm

std::uint32_t members_on(const Context& c, const MappedHost& host) {
  return host.ranks.empty() ? 0 : c.map.ranks[host.ranks.front().value()].local_size;
}

std::string slurm_hosts(const Context& c) {
  std::string out;
  for (const MappedHost& host : c.map.hosts) {
    if (has_members(c.map, host)) out += (out.empty() ? "" : ",") + host.host.name;
  }
  return out;
}

// "8(x2),4"
std::string slurm_tasks_per_host(const Context& c) {
  std::string out;
  for (std::size_t i = 0; i < c.map.hosts.size();) {
    const std::uint32_t tasks = members_on(c, c.map.hosts[i]);
    std::size_t same = i;
    while (same < c.map.hosts.size() && members_on(c, c.map.hosts[same]) == tasks) ++same;
    const std::size_t times = same - i;
    i = same;
    if (tasks == 0) continue;
    out += (out.empty() ? "" : ",") + text(tasks) + (times > 1 ? "(x" + text(times) + ")" : "");
  }
  return out;
}

std::string slurm_ranks_here(const Context& c) {
  std::string out;
  for (const Rank rank : c.map.hosts[c.rank.host.value()].ranks) {
    if (rank.value() < c.map.members()) out += (out.empty() ? "" : ",") + text(rank.value());
  }
  return out;
}

// Programs parse it as a number. It is derived from the job's id, so that it is the same on every host.
std::string slurm_job(const Context& c) {
  if (find_variable(c.facts.inherited, "SLURM_JOB_ID") != nullptr) return {};
  constexpr std::uint32_t kMost = 1'000'000'000;
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char letter : c.job.job_id) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619U;
  return text(hash % kMost);
}
std::string zero(const Context&) { return "0"; }
std::string slurm_name(const Context& c) {
  return find_variable(c.facts.inherited, "SLURM_JOB_NAME") != nullptr ? "" : "sml-run";
}
std::string own_name(const Context& c) { return c.map.hosts[c.rank.host.value()].host.name; }
std::string first_address(const Context& c) { return c.facts.addresses.front(); }

// ---- the table

struct PresetVariable {
  Preset preset;
  std::string_view name;
  std::string (*value)(const Context&);  // an empty result: not set
  std::string_view meaning;
};

constexpr std::array kPresetVariables{
    PresetVariable{Preset::Tf, "TF_CONFIG", tf_config, "the cluster, by role, and the task of the worker in it"},
    PresetVariable{Preset::Jax, "JAX_COORDINATOR_ADDRESS", jax_address, "ADDRESS:PORT where rank 0 is to listen"},
    PresetVariable{Preset::Jax, "JAX_COORDINATOR_PORT", jax_port, "that port"},
    PresetVariable{Preset::Jax, "JAX_NUM_PROCESSES", members, "as WORLD_SIZE"},
    PresetVariable{Preset::Jax, "JAX_PROCESS_ID", rank_number, "as RANK"},
    PresetVariable{Preset::Jax, "OMPI_MCA_orte_hnp_uri", jax_uri,
                   "by which JAX knows that OMPI_COMM_WORLD_RANK counts"},
    PresetVariable{Preset::OpenMpi, "OMPI_MCA_orte_hnp_uri", jax_uri, "the same"},
    PresetVariable{Preset::Deepspeed, "CROSS_RANK", host_number, "index of the host, as its launcher counts"},
    PresetVariable{Preset::Deepspeed, "CROSS_SIZE", host_count, "number of hosts"},
    PresetVariable{Preset::Slurm, "SLURM_PROCID", rank_number, "as RANK"},
    PresetVariable{Preset::Slurm, "SLURM_NTASKS", members, "as WORLD_SIZE"},
    PresetVariable{Preset::Slurm, "SLURM_NPROCS", members, "as WORLD_SIZE"},
    PresetVariable{Preset::Slurm, "SLURM_LOCALID", local_rank, "as LOCAL_RANK"},
    PresetVariable{Preset::Slurm, "SLURM_NODEID", host_number, "as GROUP_RANK"},
    PresetVariable{Preset::Slurm, "SLURM_NNODES", host_count, "as GROUP_WORLD_SIZE"},
    PresetVariable{Preset::Slurm, "SLURM_JOB_NUM_NODES", host_count, "as GROUP_WORLD_SIZE"},
    PresetVariable{Preset::Slurm, "SLURM_NODELIST", slurm_hosts, "the hosts that have workers, with commas"},
    PresetVariable{Preset::Slurm, "SLURM_JOB_NODELIST", slurm_hosts, "the same"},
    PresetVariable{Preset::Slurm, "SLURM_TASKS_PER_NODE", slurm_tasks_per_host, "workers of each host, as 8(x2),4"},
    PresetVariable{Preset::Slurm, "SLURM_GTIDS", slurm_ranks_here, "the ranks on this host"},
    PresetVariable{Preset::Slurm, "SLURMD_NODENAME", own_name, "name of this host"},
    PresetVariable{Preset::Slurm, "SLURM_JOB_ID", slurm_job, "a number for the job"},
    PresetVariable{Preset::Slurm, "SLURM_JOBID", slurm_job, "the same"},
    PresetVariable{Preset::Slurm, "SLURM_JOB_NAME", slurm_name, "\"sml-run\""},
    PresetVariable{Preset::Slurm, "SLURM_STEP_ID", zero, "0"},
    PresetVariable{Preset::Slurm, "SLURM_STEPID", zero, "0"},
    PresetVariable{Preset::Slurm, "SLURM_STEP_NODELIST", slurm_hosts, "as SLURM_NODELIST"},
    PresetVariable{Preset::Slurm, "SLURM_STEP_NUM_NODES", host_count, "as SLURM_NNODES"},
    PresetVariable{Preset::Slurm, "SLURM_STEP_NUM_TASKS", members, "as SLURM_NTASKS"},
    PresetVariable{Preset::Slurm, "SLURM_STEP_TASKS_PER_NODE", slurm_tasks_per_host, "as SLURM_TASKS_PER_NODE"},
    PresetVariable{Preset::Slurm, "SLURM_LAUNCH_NODE_IPADDR", first_address, "address of rank 0's host"},
    PresetVariable{Preset::Hydra, "PMI_RANK", rank_number, "as RANK"},
    PresetVariable{Preset::Hydra, "PMI_SIZE", members, "as WORLD_SIZE"},
    PresetVariable{Preset::Hydra, "MPI_LOCALRANKID", local_rank, "as LOCAL_RANK"},
    PresetVariable{Preset::Hydra, "MPI_LOCALNRANKS", local_size, "as LOCAL_WORLD_SIZE"},
    PresetVariable{Preset::VirtualLocalRank, "LOCAL_RANK", zero, "0: the only accelerator that the worker sees"},
};

struct PresetDefault {
  Preset preset;
  std::string_view name;
  std::string_view value;
  std::string_view meaning;
};
constexpr std::array kPresetDefaults{
    PresetDefault{Preset::Accelerate, "ACCELERATE_MIXED_PRECISION", "no", "unless set: no"},
    PresetDefault{Preset::Accelerate, "ACCELERATE_DYNAMO_BACKEND", "NO", "unless set: NO"},
    PresetDefault{Preset::Accelerate, "ACCELERATE_DYNAMO_MODE", "default", "unless set: default"},
    PresetDefault{Preset::Accelerate, "ACCELERATE_DYNAMO_USE_DYNAMIC", "False", "unless set: False"},
    PresetDefault{Preset::Accelerate, "ACCELERATE_DYNAMO_USE_FULLGRAPH", "False", "unless set: False"},
    PresetDefault{Preset::Accelerate, "ACCELERATE_DYNAMO_USE_REGIONAL_COMPILATION", "False", "unless set: False"},
};

// ---- roles

bool is_one_of(std::string_view role, std::span<const std::string_view> roles) {
  return std::find(roles.begin(), roles.end(), role) != roles.end();
}

Result<void> check_roles(std::span<const ProgramShare> programs, std::span<const std::string_view> known,
                         std::string_view preset) {
  for (const ProgramShare& program : programs) {
    if (program.role == kUnnamed || is_one_of(program.role, known)) continue;
    std::string list;
    for (const std::string_view role : known) list += (list.empty() ? "" : ", ") + std::string(role);
    return Error(ErrorKind::Usage,
                 "--role " + show(program.role, 60) + ": --preset " + std::string(preset) + " knows the roles " + list);
  }
  return {};
}

bool has_role(std::span<const ProgramShare> programs, std::string_view role) {
  return std::any_of(programs.begin(), programs.end(), [&](const ProgramShare& p) { return p.role == role; });
}

// With a chief and parameter servers the chief drives the job; the workers wait for its requests, forever.
Result<void> arrange_tf(std::vector<ProgramShare>& programs) {
  static constexpr std::array kRoles{kChief, kWorker, kParameterServer, kEvaluator};
  if (Result<void> checked = check_roles(programs, kRoles, "tf"); !checked) return checked;
  const bool chief_works = has_role(programs, kChief) && has_role(programs, kParameterServer);
  for (ProgramShare& program : programs) {
    if (program.role == kUnnamed) program.role = kWorker;
    if (program.role == kParameterServer) program.part = Part::Helper;
    if (program.role == kWorker && chief_works) program.part = Part::Server;
  }
  return {};
}

}  // namespace

namespace {
Error unknown_preset(std::string_view word) {
  const std::string shown = "\"" + show(word, 80) + "\"";
  if (word == "torch" || word == "pytorch") return Error(ErrorKind::Usage, shown + " needs no preset; leave it out");
  const std::string meant = word == "tensorflow" ? "; did you mean tf?" : "";
  return Error(ErrorKind::Usage,
               shown + " is not tf, jax, deepspeed, accelerate, slurm, hydra, openmpi or virtual-local-rank" + meant);
}
}  // namespace

Result<std::set<Preset>> parse_presets(std::string_view list) {
  std::set<Preset> out;
  for (const std::string_view word : split(list, ',')) {
    const auto* found = std::find_if(kPresets.begin(), kPresets.end(), [&](const auto& p) { return p.name == word; });
    if (found == kPresets.end()) return unknown_preset(word);
    out.insert(found->preset);
  }
  return out;
}

std::vector<VariableMeaning> preset_variables() {
  std::vector<VariableMeaning> out;
  for (const PresetVariable& v : kPresetVariables) {
    const auto same = [&v](const VariableMeaning& other) { return other.name == v.name; };
    if (std::none_of(out.begin(), out.end(), same)) out.push_back({v.name, v.meaning});
  }
  for (const PresetDefault& v : kPresetDefaults) out.push_back({v.name, v.meaning});
  return out;
}

Result<void> arrange_programs(const std::set<Preset>& presets, std::vector<ProgramShare>& programs) {
  if (presets.contains(Preset::Tf)) return arrange_tf(programs);
  return {};
}

namespace {
// Whether `preset` is one of them, and no other has all that it has.
bool stands_alone(const std::set<Preset>& presets, Preset preset) {
  return presets.contains(preset) && !(preset == Preset::OpenMpi && presets.contains(Preset::Jax));
}
}  // namespace

std::vector<PresetPort> preset_ports(const std::set<Preset>& presets, const JobMap& map) {
  std::vector<PresetPort> out;
  for (const RankAssignment& rank : map.ranks) {
    const auto add = [&](Preset preset) { out.push_back({preset, rank.rank, rank.host}); };
    if (presets.contains(Preset::Tf)) add(Preset::Tf);
    if (presets.contains(Preset::Jax) && rank.rank.value() == 0) add(Preset::Jax);
    if (stands_alone(presets, Preset::OpenMpi) && rank.rank.value() == 0) add(Preset::OpenMpi);
  }
  return out;
}

Environment preset_environment(const std::set<Preset>& presets, const JobMap& map, const RankAssignment& rank,
                               const JobIdentity& job, const PresetFacts& facts) {
  const Context context{map, rank, job, facts};
  Environment out;
  for (const PresetVariable& v : kPresetVariables) {
    const bool of_members = v.preset != Preset::Tf;
    if (!stands_alone(presets, v.preset) || (of_members && rank.part == Part::Helper)) continue;
    if (std::string value = v.value(context); !value.empty()) out.push_back(std::string(v.name) + "=" + value);
  }
  return out;
}

Environment preset_defaults(const std::set<Preset>& presets) {
  Environment out;
  for (const PresetDefault& v : kPresetDefaults) {
    if (presets.contains(v.preset)) out.push_back(std::string(v.name) + "=" + std::string(v.value));
  }
  return out;
}

}  // namespace sml::plan
