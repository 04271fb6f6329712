// The plan of one attempt: its hosts, ranks, programs with their environments, and each worker's share of its host.
// Time limits, logs, output and restarts are in JobOptions. --dry-run and --display-map print the main parts, --check
// examines the hosts by it, and attempt::Attempt executes it. Each attempt has a plan of its own; attempt::DynamicRanks
// adds ranks that join a running attempt to a copy. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/core/process_settings.h"
#include "common/plan/channel.h"
#include "common/plan/environment/presets.h"
#include "common/plan/environment/secrets.h"
#include "common/plan/environment/worker_env.h"
#include "common/plan/fifos.h"
#include "common/plan/machine/binding.h"
#include "common/plan/machine/devices.h"
#include "common/plan/ranks/job_map.h"
#include "common/plan/ranks/job_shape.h"

namespace sml::plan {

enum class ExportPolicy : std::uint8_t { All, None };

// A program that ranks run.
struct Program {
  std::vector<std::string> command;  // program and arguments, as bytes
  std::string working_directory;     // absolute
  Environment user_environment;      // --env-file, then -x
  std::uint32_t local_rank_at = 0;   // index in `command` at which each rank gets --local_rank=N; 0: it gets none
  std::string search_path{};         // folders, with colons between, where it is looked for before PATH; empty: none
};

// The way in which agents on other hosts are started.
struct AgentStart {
  // as --start-by names it; empty: the launcher starts none, because the hosts connect to it, or this is the only host
  std::string by;
  std::string because;  // why it was chosen, as a part of a sentence
};

// Value type: contains no connection, descriptor or time. launcher_environment has the values of secrets; session plans
// (launcher/attempt/session_plans.h) leave out what hosts must not get.
struct LaunchPlan : Program {  // the base is the first program, and the only one of most jobs
  JobMap map;
  Oversubscribe oversubscribe = Oversubscribe::No;  // whether ranks spawned by MPI may exceed the slots
  // Set: the slots limit spawned ranks. None: only the number of workers was given; each of them has a slot, and
  // spawned ranks need none.
  enum class SlotLimit : std::uint8_t { Set, None } slot_limit = SlotLimit::Set;
  std::string host_source;            // HostList::source
  std::optional<CallingHosts> calls;  // HostList::calls
  AgentStart start;
  JobIdentity job;
  std::vector<Program> more_programs;  // indices of RankAssignment::program count from the first program
  std::set<Preset> presets;
  TorchStore torch_store = TorchStore::OfRank0;
  ExportPolicy export_policy = ExportPolicy::All;
  SecretExport secrets = SecretExport::Withheld;
  Environment launcher_environment;  // as at the launcher's start
  ProcessSettings launcher_process;  // as at the launcher's start
  BindingRequest binding;            // for each host
  DeviceRequest devices;
  PmiMode mpi = PmiMode::None;
  std::string pmix_library;        // path on every host; empty: each host uses its own
  std::vector<FifoChannel> fifos;  // on each host
  std::vector<Channel> channels;
  std::vector<std::string> warnings;  // shown to the user once, before anything starts; parts of sentences

  std::size_t program_count() const { return 1 + more_programs.size(); }
  const Program& program(std::size_t index) const { return index == 0 ? *this : more_programs[index - 1]; }
};

// Returns the output of --dry-run --format json: one line, without a newline. The text has the names of the user's
// variables and not their values, which may be secrets. Bytes that are not UTF-8 appear as U+FFFD: this output is for
// people and scripts, not for transport.
std::string to_json(const LaunchPlan& plan);

// Returns an environment, with its values, as one JSON object on one line, without a newline; bytes that are not UTF-8
// as in to_json(). The caller has replaced the values of secrets.
std::string environment_to_json(const Environment& environment);

// Returns the plan as a table for people, at most 100 columns wide if the names permit; ends with a newline. With more
// than 64 ranks the table has the hosts and programs, and no row for each rank.
std::string to_table(const LaunchPlan& plan);

}  // namespace sml::plan
