// The machine that the launcher runs on.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/core/process_settings.h"
#include "common/plan/environment/worker_env.h"
#include "common/plan/machine/cpu_topology.h"
#include "common/plan/machine/host.h"
#include "launcher/hosts/aliases.h"
#include "launcher/inputs/file_access.h"
#include "launcher/inputs/secret_file.h"
#include "launcher/starters/starter.h"
#include "launcher/transport/locality.h"

namespace sml {

// The text of a file that nobody else can have written.
struct OwnText {
  std::string text;
  bool all_can_read = false;  // every user of this machine
};

// This process, as it was started.
struct ProcessFacts {
  plan::Environment environment;
  std::string working_directory;  // absolute; empty if it no longer exists
  ProcessSettings settings{};     // its limits and umask
};

// Names of machines.
struct HostNames {
  std::string own;
  std::function<transport::Whose(const std::string& host)> whose_host{};  // may block on a name server; null: Unknown
};

struct SecretFiles {
  // See read_secret_file().
  std::function<Result<std::string>(const std::string& path, SecretKind kind)> read;
  // See share_secret_file(). Null: the hosts share no folder.
  std::function<Result<void>(const std::string& path, SecretMaker maker, Duration timeout)> share{};
  std::function<std::string()> config_folder;  // the user's folder for configurations, absolute; empty: none
};

struct Hardware {
  std::function<std::uint32_t()> count_gpus;          // by nvidia-smi -L, those that CUDA may see; 0 without it
  std::function<std::uint32_t()> count_neuron_cores;  // by neuron-ls; 0 without it
  std::function<std::uint32_t()> count_cpus;          // usable CPUs
  std::function<plan::CpuTopology()> cpu_topology{};  // the usable part; null or an empty result: unknown
};

// The other programs of this machine.
struct LocalPrograms {
  // A program's standard output; empty if there is no such program or it hangs.
  std::function<std::string(const std::vector<std::string>& argv)> output_of;
  // Programs that output_of() has not run because others could change them: each entry is a part of a sentence with the
  // reason. Null: none.
  std::function<std::vector<std::string>()> passed_over{};
  // The programs of that name in PATH that output_of() would not run for this reason; entries as in passed_over. Runs
  // none of them. Null: none.
  std::function<std::vector<std::string>(const std::string& name)> passed_over_of{};
  // Whether this machine has the program of that starter, and sml-run may run it; null: unknown.
  std::function<bool(const starters::Starter& starter)> has_tool{};
  // Whether a program listens on that TCP port; null: not known.
  std::function<bool(std::uint16_t port)> listens{};
};

// The job that is planned.
struct NewJob {
  std::string id;
  std::string name_space{};    // random, for LaunchPlan::job
  std::int64_t unix_time = 0;  // seconds, when this was made
};

// Findings about the hosts of the job.
struct HostFindings {
  std::vector<hosts::MachineNames> machines{};          // hosts that have turned out to be one machine
  std::optional<std::vector<plan::Host>> discovered{};  // as --host-discovery-script lists them; nullopt: no list
  // The folders whose files the platform has divided among the hosts; null: the platform does not do so.
  std::function<Result<std::vector<std::string>>()> sharded_folders{};
};

// The launcher's machine as the planner sees it. Values that cost time are functions, called only when needed. Tests
// make their own ThisHost; this_host() makes the real one.
struct ThisHost {
  ProcessFacts process;
  HostNames names;
  FileAccess files;  // with check_trust, read_own_text() opens files itself, not by files.read
  SecretFiles secrets;
  Hardware hardware;
  LocalPrograms programs;
  NewJob job;
  HostFindings found;
};

// A variable of the environment; empty if it is not set.
std::string variable(const ThisHost& here, std::string_view name);

// Reads a file whose contents sml-run obeys. Error (Config): another user may have written the file, or can do so.
Result<OwnText> read_own_text(const ThisHost& here, const std::string& path, std::size_t limit);
Result<std::string> read_own_file(const ThisHost& here, const std::string& path, std::size_t limit);

// The real machine.
ThisHost this_host(std::span<const char* const> environment);

}  // namespace sml
