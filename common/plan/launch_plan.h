// Everything that is decided before anything is started: what --dry-run prints and what a job executes.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/process_settings.h"
#include "common/plan/binding.h"
#include "common/plan/channel.h"
#include "common/plan/devices.h"
#include "common/plan/fifos.h"
#include "common/plan/job_map.h"
#include "common/plan/job_shape.h"
#include "common/plan/presets.h"
#include "common/plan/secrets.h"
#include "common/plan/worker_env.h"

namespace sml::plan {

enum class ExportPolicy : std::uint8_t { All, None };

// What ranks run.
struct Program {
  std::vector<std::string> command;  // program and arguments, bytes
  std::string working_directory;     // absolute
  Environment user_environment;      // --env-file, then -x
  std::uint32_t local_rank_at = 0;   // before this word each rank finds --local_rank=N; 0: nowhere
  std::string search_path{};         // folders, with colons between, where it is looked for before PATH; empty: none
};

// Value type; nothing in it refers to a connection, a descriptor or a moment.
struct LaunchPlan : Program {  // the first program, of jobs with one the only one
  JobMap map;
  Oversubscribe oversubscribe = Oversubscribe::No;  // of ranks that are spawned
  // Unsaid: nobody has counted the slots of this machine, which are as many as there are workers, and no limit.
  enum class Room : std::uint8_t { Counted, Unsaid } room = Room::Counted;
  std::string host_source;            // HostList::source
  std::optional<CallingHosts> calls;  // HostList::calls
  std::string own_name;  // the host of that name is this machine, whatever this machine calls itself; may be empty
  JobIdentity job;
  std::vector<Program> more_programs;  // RankAssignment::program counts from the first
  std::set<Preset> presets;
  ExportPolicy export_policy = ExportPolicy::All;
  SecretExport secrets = SecretExport::Withheld;
  Environment launcher_environment;  // as we were started
  ProcessSettings launcher_process;  // likewise
  BindingWish binding;               // what each host is asked for
  DeviceWish devices;
  MpiMeeting mpi = MpiMeeting::None;
  std::string pmix_library;        // on every host; empty: each host's own
  std::vector<FifoChannel> fifos;  // of each host
  std::vector<Channel> channels;
  std::vector<std::string> warnings;  // clauses that the user should see once, before anything starts

  std::size_t program_count() const { return 1 + more_programs.size(); }
  const Program& program(std::size_t index) const { return index == 0 ? *this : more_programs[index - 1]; }
};

// What --dry-run --format json prints, on one line, without a newline. Of the user's variables it holds the names only:
// values may be secrets. Bytes that are not UTF-8 are shown as U+FFFD: the plan is for people and scripts, not the
// transport.
std::string to_json(const LaunchPlan& plan);

// An environment as one JSON object on one line, without a newline; bytes as in to_json().
std::string environment_to_json(const Environment& environment);

// The same as a table for people, at most 100 columns where names allow; ends with a newline.
std::string to_table(const LaunchPlan& plan);

}  // namespace sml::plan
