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
#include "common/hosts/aliases.h"
#include "common/plan/cpu_topology.h"
#include "common/plan/host.h"
#include "common/plan/worker_env.h"
#include "launcher/inputs/secret_file.h"
#include "launcher/launch/locality.h"

namespace sml {

// What users other than the owner and their group can do with a file.
enum class OthersCan : std::uint8_t { Nothing, Read, Write };

// A file's text, and who else has a say in it: of one descriptor.
struct WatchedText {
  std::string text;
  OthersCan others = OthersCan::Nothing;
  std::optional<unsigned> other_owner{};  // who is neither root nor this user
};

// The machine as the planner sees it; injected so that tests need none.
struct ThisHost {
  std::int64_t unix_time = 0;
  std::function<Result<std::string>(const std::string& path, std::size_t limit)> read_file;  // at most `limit` bytes
  std::function<Result<std::string>(const std::string& path, SecretKind kind)> read_secret;
  std::function<bool(const std::string& path)> exists;
  std::function<std::uint32_t()> count_gpus;          // nvidia-smi -L; 0 without
  std::function<std::uint32_t()> count_neuron_cores;  // neuron-ls; 0 without
  std::function<std::uint32_t()> count_cpus;          // usable ones
  std::function<plan::CpuTopology()> cpu_topology{};  // what may be used of it; empty, or none: it is not known
  // What a program prints on its standard output; empty when it is not there or hangs.
  std::function<std::string(const std::vector<std::string>& argv)> output_of;
  std::string host_name;                       // this machine's
  std::string working_directory;               // absolute; empty when it does not exist any more
  std::function<std::string()> config_folder;  // of the user's configurations, absolute; empty: there is none
  plan::Environment environment;
  ProcessSettings process{};                                           // of the launcher, as it was started
  std::function<launch::Whose(const std::string& host)> whose_host{};  // may wait for a name server; null: not known
  std::string job_id;                                                  // a new one
  std::string name_space{};                                            // likewise
  std::vector<hosts::MachineNames> machines{};                         // hosts that have turned out to be one
  std::optional<std::vector<plan::Host>> discovered{};                 // that --host-discovery-script has listed
  // As read_file, with what others can do with a regular file or a FIFO; null: not known.
  std::function<Result<WatchedText>(const std::string& path, std::size_t limit)> read_watched{};
  // Whether nobody else has a say in what the path names, see common/os/trust.h; null: not known.
  std::function<Result<void>(const std::string& path)> check_trust{};
  // Whether a program of this machine listens on that TCP port; null: not known.
  std::function<bool(std::uint16_t port)> listens{};
  // Programs that output_of() has passed over, and why: clauses. Null: none.
  std::function<std::vector<std::string>()> passed_over{};
  // Folders that the platform has dealt out over the hosts of the job; null: it is none that does so.
  std::function<Result<std::vector<std::string>>()> sharded_folders{};
};

// Of its environment; empty when it is not set.
std::string variable(const ThisHost& here, std::string_view name);

// By read_file, of what is to be obeyed: a file that others can have written is refused.
Result<std::string> read_own_file(const ThisHost& here, const std::string& path, std::size_t limit);

// The real one.
ThisHost this_host(std::span<const char* const> environment);

}  // namespace sml
