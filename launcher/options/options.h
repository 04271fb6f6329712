// What the command line asks for, as plain values: already checked one by one, not yet held against each other or the
// machine.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/plan/host_share.h"
#include "common/plan/job_map.h"
#include "common/plan/launch_plan.h"
#include "launcher/options/completion.h"
#include "launcher/options/job_options.h"

namespace sml {

enum class PlanFormat : std::uint8_t { Text, Json };
enum class Explain : std::uint8_t { No, Yes };
enum class Preflight : std::uint8_t { No, Yes };  // the hosts are looked at, and nothing is started
// How slots are counted where no source names them. GpuOrCpu: the CPUs where there is no GPU; Core: cores of this
// machine, whatever else it has.
enum class SlotsRule : std::uint8_t { Auto, Gpu, Cpu, GpuOrCpu, Core };
enum class SlotsHold : std::uint8_t { WhereNoneNamed, OnEveryHost };  // what the count is worth beside those of a list

// How workers are bound where no option says it.
enum class BindRule : std::uint8_t { None, OpenMpi };
// What that rule binds to, what slots are counted by with SlotsRule::Core, and what --cpus-per-rank counts.
enum class Processors : std::uint8_t { Cores, Hwthreads };
enum class SaidByUser : std::uint8_t { No, Yes };

enum class HostOrder : std::uint8_t { Given, Natural };

// The runs of an array job: one line of a file each.
enum class ArrayScope : std::uint8_t { OneLine, All };
struct ArrayOptions {
  std::string file;  // empty: no array
  std::vector<std::string> names;
  std::optional<std::uint32_t> index;  // empty: the batch system's
  std::optional<std::uint32_t> base;   // index of the first line; empty: the batch system's, else 0
  ArrayScope scope = ArrayScope::OneLine;
  std::optional<std::uint32_t> jobs;  // for All: runs at the same time
};

// What is started: the program of the command line, or that of a SageMaker training job.
enum class Mode : std::uint8_t { Program, Train };
enum class HyperparameterStyle : std::uint8_t { Toolkit, V3 };
enum class Installation : std::uint8_t { Yes, No };
struct TrainingOptions {
  HyperparameterStyle style = HyperparameterStyle::Toolkit;
  Installation install = Installation::Yes;
};

// Where sml-run is started on every host, and the hosts call the first of them.
// What the key of the job may be made of where there is no secret.
enum class KeyRule : std::uint8_t {
  Secret,   // nothing, but where a platform keeps the hosts of a job apart from others
  Insecure  // names that can be guessed
};
enum class MakeSecret : std::uint8_t { No, Yes };  // the user's file is made, and nothing is started
// Whether every host says of all how many workers they have, and in which role, or each host for itself.
enum class SharesAre : std::uint8_t { Alike, OfEachHost };

struct DialInOptions {
  static constexpr Duration kLastCall = std::chrono::seconds(30);  // as torch's rendezvous has it

  std::optional<std::uint32_t> hosts;  // how many there are at most; empty: as many as are named
  std::optional<std::uint32_t> least;  // so many do for the job; empty: all are needed
  Duration last_call = kLastCall;      // others are waited for when these are here
  std::optional<std::uint32_t> place;  // of this one; 0 is the head
  std::string head;                    // ADDR[:PORT]; empty: the name of the first host
  std::string secret_file;             // path; empty: none
  KeyRule key = KeyRule::Secret;
  MakeSecret make_secret = MakeSecret::No;
  std::optional<std::uint32_t> attempt;
  SharesAre shares_are = SharesAre::Alike;  // where their number is fixed
  plan::HostShares shares;                  // OfEachHost, once all have said it; empty: as this one's
};

// Channels that workers read from FIFOs.
struct FifoOptions {
  std::vector<plan::FifoChannel> feeds;    // --pipe
  std::vector<plan::FifoChannel> fanouts;  // --pipe-fanout
  std::uint32_t epochs = 0;                // 0: no end
};

enum class LocalRankArgument : std::uint8_t { No, Yes };  // --local_rank=N is the first argument

// What each program of the command line, those between ":", says for itself.
struct ProgramOptions {
  std::optional<std::uint32_t> np;
  std::string hosts;                          // text of -H
  std::vector<std::string> export_variables;  // the -x words in order: NAME, NAME=VALUE or PREFIX_*
  std::vector<std::string> env_files;
  std::string working_directory;  // empty: the launcher's
  std::string role{"default"};
  plan::Part part = plan::Part::Worker;
  LocalRankArgument local_rank_argument = LocalRankArgument::No;
  std::vector<std::string> command;
};

struct Options : JobOptions, ProgramOptions {
  Mode mode = Mode::Program;
  TrainingOptions training;
  DialInOptions dial_in;
  FifoOptions fifos;
  bool start_timeout_given = false;      // else it depends on what is started
  bool heartbeat_timeout_given = false;  // else it depends on what the loss of a host means
  std::vector<ProgramOptions> more_programs;
  std::string app_file;  // path, with the programs
  std::set<plan::Preset> presets;
  std::string hostfile;         // path
  std::string resource_config;  // path
  std::string include_hosts;    // filters in DeepSpeed's grammar; at most one of the two
  std::string exclude_hosts;
  HostOrder host_order = HostOrder::Given;
  std::optional<std::uint32_t> host_count;  // the first so many; empty: all
  std::string groups;                       // of the hosts of resourceconfig.json, with commas between them; empty: all
  std::string host_source;                  // the only one that may be used; empty: the first that is there
  std::optional<std::uint32_t> nproc_per_node;
  SlotsRule slots_rule = SlotsRule::Auto;
  SlotsHold slots_hold = SlotsHold::WhereNoneNamed;
  plan::RankLayout layout;  // its rankfile comes from this one:
  std::string rankfile;     // path; empty: none
  plan::BindingWish binding;
  BindRule bind_rule = BindRule::None;
  Processors processors = Processors::Cores;
  SaidByUser bind_to_said = SaidByUser::No;             // by --bind-to
  std::vector<std::string> bind_lists;                  // by local rank, and again: cores as a rankfile names them
  SaidByUser map_by_said = SaidByUser::No;              // by --map-by
  std::optional<plan::VisibleDevices> visible_devices;  // empty: per rank where gpus_per_rank is given
  std::optional<std::uint32_t> gpus_per_rank;
  plan::ExportPolicy export_policy = plan::ExportPolicy::All;
  plan::SecretExport secrets = plan::SecretExport::Withheld;
  std::optional<std::uint32_t> show_env;  // rank; only with dry_run
  std::string agent_path;                 // empty: the embedded agent
  std::optional<PlanFormat> dry_run;
  Preflight check = Preflight::No;
  PlanFormat format = PlanFormat::Text;  // of what is printed instead of a job
  Explain explain = Explain::No;
  std::optional<Shell> completion;    // whose script is printed
  std::string links_folder;           // where links for other launchers are made, and nothing is started; empty: none
  std::string config_file;            // empty: none
  std::vector<std::string> warnings;  // of reading the options
  ArrayOptions array;
  std::vector<plan::Channel> channels;           // their folders as they were given
  plan::Environment extra_variables;             // of take_array_line() and prepare_training(); -x has more say
  std::string run_id;                            // TORCHELASTIC_RUN_ID; empty: the job's id
  SaidByUser nproc_said = SaidByUser::No;        // --nproc-per-node, auto too
  plan::WorldTold world = plan::WorldTold::Yes;  // see prepare_training()
  SaidByUser torch_store_said = SaidByUser::No;  // by an option
  bool display_map = false;                      // the plan is printed before the start
  std::vector<std::string> without_effect;       // options of other launchers, as they were written
};

}  // namespace sml
