// The environment of each worker. Pure. The launcher provides the parts; the agent of each host composes them, because
// only the agent knows that host's login environment.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/plan/ranks/job_map.h"
#include "common/plan/variables.h"

namespace sml::plan {

// The lowest layer of a worker's environment: the user's variables and those of the job override it.
enum class BaseEnvironment : std::uint8_t {
  Launcher,           // the launcher's environment unchanged: the local host
  LauncherOverLogin,  // the launcher's environment over the host's login environment: remote hosts with --export all
  Login,              // only the host's login environment: remote hosts with --export none
};

// Whether workers get their rank, their world and its rendezvous address in their environment. No: each worker is
// started as if there were no others, and gets only the names SML_*.
enum class WorldTold : std::uint8_t { Yes, No };

// True if WorldTold::No keeps this variable from workers.
bool tells_of_world(std::string_view name);

// The identity of the job as workers see it.
struct JobIdentity {
  std::string job_id;          // [A-Za-z0-9-]+, unique
  std::uint32_t attempt = 0;   // the number of runs of the workers before this one
  std::uint32_t restarts = 0;  // the number of max_restarts used before this run; hosts that join or leave may use none
  std::uint32_t max_restarts = 0;
  std::string run_id{};  // the user's name of the job for torch; empty: job_id
  // The PMIx name space of the ranks. A process that knows it can impersonate a rank, so it cannot be guessed and is
  // sent only to the hosts of the job.
  std::string name_space{};
  WorldTold world = WorldTold::Yes;
};

// Where the store runs in which torch's processes find each other, at MASTER_PORT.
enum class TorchStore : std::uint8_t {
  OfAgent,  // in the agent of rank 0's host, as under torchrun: it runs before rank 0 does, and after
  OfRank0,  // in rank 0, opened by torch itself
};

// A variable that workers get, and its meaning, for the section ENVIRONMENT of the man page.
struct VariableMeaning {
  std::string_view name;
  std::string_view meaning;
};
std::vector<VariableMeaning> worker_variables();

// Everything that is set for one rank, except values that are only known after the rendezvous of the agents
// (rendezvous_environment()). With WorldTold::No the agent removes the variables for which tells_of_world() is true.
// One table in worker_env.cc lists the names with their meaning; the man page is checked against it.
// If the slots of the host were chosen by number, CUDA_VISIBLE_DEVICES lists these, as with DeepSpeed's launcher: the
// local rank is an index in that list.
Environment rank_environment(const JobMap& map, const RankAssignment& rank, const JobIdentity& job);

// Where the workers find each other.
struct Rendezvous {
  std::string address;  // of rank 0's host, numeric
  std::uint16_t port = 0;
  std::uint16_t horovod_port = 0;  // of Horovod's store on that host
  TorchStore torch_store = TorchStore::OfAgent;
  bool elastic = false;  // Horovod's workers may continue when others end
};

// MASTER_ADDR, MASTER_PORT, the address of Horovod's store and the variables derived from them. Equal for all ranks.
Environment rendezvous_environment(const Rendezvous& rendezvous);

// Everything that is set for one rank over the environment of its host, for people to read: the user's variables, the
// defaults and the launcher's variables. Values that are only known after the rendezvous, and those of variables that
// look like secrets, are replaced by words in parentheses. `preset` overrides everything else.
Environment shown_environment(const JobMap& map, const RankAssignment& rank, const JobIdentity& job,
                              std::span<const std::string> user, TorchStore torch_store,
                              std::span<const std::string> preset = {});

// The layers of one worker's environment; later layers, and later entries within a layer, override earlier ones.
// `login` is the environment with which the agent itself was started.
struct EnvironmentLayers {
  BaseEnvironment base = BaseEnvironment::Launcher;
  std::span<const std::string> login;
  // The launcher's environment, unchanged; for LauncherOverLogin the result of for_other_hosts(), from which the caller
  // may have removed the secrets.
  std::span<const std::string> launcher;
  std::span<const std::string> user;   // --env-file, then -x
  std::span<const std::string> job;    // rank_environment + rendezvous_environment
  std::string_view working_directory;  // becomes PWD
};

// The final environment: unique names, sorted by name (so that it is reproducible). Leaves out what another launcher
// has set in `login` and `launcher` (set_by_a_launcher()). PYTHONUNBUFFERED, PYTHONFAULTHANDLER and
// TORCH_NCCL_ASYNC_ERROR_HANDLING are 1 unless they were set.
Environment compose(const EnvironmentLayers& layers);

// `composed` (from compose(), without job variables) with `job` over it: adds the variables that differ between the
// ranks of one host to those that they share.
Environment with_job(const Environment& composed, std::span<const std::string> job);

}  // namespace sml::plan
