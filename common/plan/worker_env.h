// What each worker finds in its environment. Pure; the launcher says what, the agent of each host composes it, because
// only the agent knows that host's login environment.
//
// An environment is a list of "NAME=VALUE" byte strings. Values are any bytes but NUL.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/plan/job_map.h"

namespace sml::plan {

using Environment = std::vector<std::string>;

// The layer below everything the user asked for.
enum class BaseEnvironment : std::uint8_t {
  Launcher,           // the launcher's environment as it is: the local host
  LauncherOverLogin,  // the host's login environment, the launcher's over it: remote hosts with --export all
  Login,              // the host's login environment alone: remote hosts with --export none
};

std::string_view name_of(std::string_view entry);   // "A=b" → "A"
std::string_view value_of(std::string_view entry);  // "A=b" → "b"; empty without '='

// The entry with that name that counts: the last one. A null pointer when there is none.
const std::string* find_variable(std::span<const std::string> environment, std::string_view name);

// Its value; "" where there is none.
std::string_view variable(std::span<const std::string> environment, std::string_view name);

// Names that mean something only on the host or in the login where they were set (HOME, PWD, SSH_*, XDG_*, DISPLAY,
// *_VISIBLE_DEVICES, BASH_FUNC_*, ...): they do not travel to another host. The manual lists them.
bool bound_to_host(std::string_view name);

// Names by which a launcher tells a worker its place (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_*, OMPI_COMM_WORLD_*, PMI_*,
// PMIX_*, HOROVOD_RANK, ..., TORCHELASTIC_*, SML_*, SLURM_PROCID, ...). When we are started by another launcher they
// describe us, not our workers, so they never survive in the base. (-x and --env-file may still set them, except those
// that we set ourselves.)
bool set_by_a_launcher(std::string_view name);

// The launcher's environment as it should travel to another host: without bound_to_host() and set_by_a_launcher(); in a
// job of Slurm with what bash begins with (BASH_ENV, BASH_FUNC_*), as srun has it.
Environment for_other_hosts(std::span<const std::string> launcher_environment);

// Whether workers find their rank, their world and the place where it meets in their environment. No: each is started
// as if there were no others, and finds the names SML_* only.
enum class WorldTold : std::uint8_t { Yes, No };

// Whether the variable is one of those that WorldTold::No keeps from workers.
bool tells_of_world(std::string_view name);

// Identity of the job as workers see it.
struct JobIdentity {
  std::string job_id;          // [A-Za-z0-9-]+, unique
  std::uint32_t attempt = 0;   // runs of the workers before this one
  std::uint32_t restarts = 0;  // of max_restarts, used before this run: hosts that join or leave may use none
  std::uint32_t max_restarts = 0;
  std::string run_id{};  // as the user names the job for torch; empty: job_id
  // Under which PMIx knows the ranks. Who knows it may pass for one of them, so it cannot be guessed, and none but the
  // hosts of the job are told.
  std::string name_space{};
  WorldTold world = WorldTold::Yes;
};

// Who hosts the store in which torch's processes meet, at MASTER_PORT.
enum class TorchStore : std::uint8_t {
  OfAgent,  // the agent of rank 0's host, as under torchrun: it is there before rank 0 is, and after
  OfRank0,  // torch itself, in rank 0
};

// A name that workers find set, and what it says: the man page's section ENVIRONMENT.
struct VariableMeaning {
  std::string_view name;
  std::string_view meaning;
};
std::vector<VariableMeaning> worker_variables();

// Everything that is set for one rank, except what is only known once agents have met (rendezvous_environment). With
// WorldTold::No the agent leaves out what tells_of_world().
// One table in worker_env.cc lists the names with their meaning; the man page is checked against it.
// Where the slots of the host were chosen by number, CUDA_VISIBLE_DEVICES lists these, as DeepSpeed's launcher does:
// the local rank counts among them.
Environment rank_environment(const JobMap& map, const RankAssignment& rank, const JobIdentity& job);

// Where the workers meet.
struct Rendezvous {
  std::string address;  // of rank 0's host, numeric
  std::uint16_t port = 0;
  std::uint16_t horovod_port = 0;  // of Horovod's store there
  TorchStore torch_store = TorchStore::OfAgent;
  bool elastic = false;  // Horovod's workers may outlive each other
};

// MASTER_ADDR, MASTER_PORT, Horovod's store and what follows from them. Equal for all ranks.
Environment rendezvous_environment(const Rendezvous& rendezvous);

// What is set for one rank over the environment of its host: the user's variables, the defaults and ours, for people.
// Values that are only known when the hosts have met, and those of names that look like secrets, are replaced by words
// in parentheses. `preset` comes over all.
Environment shown_environment(const JobMap& map, const RankAssignment& rank, const JobIdentity& job,
                              std::span<const std::string> user, TorchStore torch_store,
                              std::span<const std::string> preset = {});

// The layers of one worker, later wins; within a layer too. `login` is the environment that the agent itself was
// started with.
struct EnvironmentLayers {
  BaseEnvironment base = BaseEnvironment::Launcher;
  std::span<const std::string> login;
  std::span<const std::string> launcher;  // whole for Launcher, for_other_hosts() of it for LauncherOverLogin
  std::span<const std::string> user;      // --env-file, then -x
  std::span<const std::string> job;       // rank_environment + rendezvous_environment
  std::string_view working_directory;     // becomes PWD
};

// The final environment: unique names, sorted by name (so that it is reproducible), PYTHONUNBUFFERED=1,
// PYTHONFAULTHANDLER=1, TORCH_NCCL_ASYNC_ERROR_HANDLING=1 and OMP_NUM_THREADS unless they were set.
Environment compose(const EnvironmentLayers& layers);

// `composed` (from compose(), without job variables) with `job` over it: what differs between the ranks of one host is
// added to what they share.
Environment with_job(const Environment& composed, std::span<const std::string> job);

}  // namespace sml::plan
