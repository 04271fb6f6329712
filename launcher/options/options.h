// The options as plain values with their defaults: here those for finding the hosts and for planning; JobOptions has
// those of the run. Each is checked by itself, but not yet against the others or against the machine.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/plan/launch_plan.h"
#include "common/plan/ranks/job_map.h"
#include "launcher/options/job_options.h"
#include "launcher/options/text/completion.h"
#include "launcher/plan/host_share.h"

namespace sml {

// The format of output that is printed instead of running a job.
enum class PlanFormat : std::uint8_t { Text, Json };
enum class Explain : std::uint8_t { No, Yes };
enum class Preflight : std::uint8_t { No, Yes };  // Yes: check the hosts, and start no worker
// How a host's slots are counted if no source gives them. Auto: GPUs, else Neuron cores, else 1. GpuOrCpu: the CPUs if
// there is no GPU. Core: the cores of this machine, even if it has GPUs.
enum class SlotsRule : std::uint8_t { Auto, Gpu, Cpu, GpuOrCpu, Core };
// Whether the count overrides slots in a host list.
enum class SlotsHold : std::uint8_t { WhereNoneNamed, OnEveryHost };

// How workers are bound if no option specifies it. OpenMpi: as Open MPI does, see bind_as_open_mpi().
enum class BindRule : std::uint8_t { None, OpenMpi };
// The unit to which BindRule::OpenMpi binds, and which SlotsRule::Core and --cpus-per-rank count.
enum class Processors : std::uint8_t { Cores, Hwthreads };
// Whether an option was given; if not, sml-run may choose its value.
enum class SetByUser : std::uint8_t { No, Yes };

// The order of hosts and ranks: as in the host list, or by name, see natural_less().
enum class HostOrder : std::uint8_t { Given, Natural };

// --array-file: the run of an array job gets its values from one line of a file.
struct ArrayOptions {
  std::string file;  // empty: no array
  std::vector<std::string> names;
  std::optional<std::uint32_t> index;  // of this run; nullopt: from the batch system
  std::optional<std::uint32_t> base;   // index of the first line; nullopt: from the batch system, else 0
};

// Which program is started: the one on the command line, or that of a SageMaker training job.
enum class Mode : std::uint8_t { Program, Train };
// How hyperparameters become arguments: as SageMaker's training toolkit makes them, or as version 3 of its Python SDK.
enum class HyperparameterStyle : std::uint8_t { Toolkit, V3 };
enum class Installation : std::uint8_t { Yes, No };
struct TrainingOptions {
  std::optional<HyperparameterStyle> style;  // nullopt: that of the SDK which made the job
  Installation install = Installation::Yes;
};

// The material for the job key, in a job whose hosts call, if they share no secret.
enum class KeyRule : std::uint8_t {
  Secret,   // none, except on a platform that isolates the hosts of a job from others
  Insecure  // names that can be guessed
};
enum class MakeSecret : std::uint8_t { No, Yes };  // Yes: make the user's secret file, and start no job
// Whether the options of each host give the number of workers and the role of all hosts, or only its own.
enum class SharesAre : std::uint8_t { Alike, OfEachHost };

// Options for jobs whose hosts call.
struct DialInOptions {
  static constexpr Duration kLastCall = std::chrono::seconds(30);  // the default of torch's rendezvous

  std::optional<std::uint32_t> hosts;  // maximum number of hosts; nullopt: as many as are named
  std::optional<std::uint32_t> least;  // minimum number of hosts; nullopt: all are needed
  Duration last_call = kLastCall;      // time to wait for more hosts once `least` have called
  std::optional<std::uint32_t> place;  // index of this host; 0 is the coordinator
  std::string head;                    // ADDR[:PORT] of the coordinator; empty: the name of the first host
  std::string secret_file;             // path; empty: none
  KeyRule key = KeyRule::Secret;
  MakeSecret make_secret = MakeSecret::No;
  // The number of this start of the whole job; hosts of another start are refused. nullopt: that of AWS Batch, else 0.
  std::optional<std::uint32_t> attempt;
  SharesAre shares_are = SharesAre::Alike;  // OfEachHost: only if no host comes later
  plan::HostShares shares;  // for OfEachHost, once all hosts have sent theirs; empty: all as this host's
};

// Channels that workers read from FIFOs.
struct FifoOptions {
  std::vector<plan::FifoChannel> channels;  // --pipe-fanout
  std::uint32_t epochs = 0;                 // 0: no limit
};

enum class LocalRankArgument : std::uint8_t { No, Yes };  // Yes: a worker gets --local_rank=N as its first argument

// Options of each program on the command line; programs are separated by ":".
struct ProgramOptions {
  std::optional<std::uint32_t> np;            // number of ranks; nullopt: one per slot
  std::string hosts;                          // argument of -H
  std::vector<std::string> export_variables;  // arguments of -x in order: NAME, NAME=VALUE or PREFIX_*
  std::vector<std::string> env_files;
  std::string working_directory;  // empty: that of the launcher
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
  bool start_timeout_given = false;      // if not, the default depends on what is started
  bool heartbeat_timeout_given = false;  // if not, the default depends on the effect of losing a host
  std::vector<ProgramOptions> more_programs;
  std::string app_file;  // path of a file with the programs; empty: none
  std::set<plan::Preset> presets;
  std::string hostfile;         // path; empty: none
  std::string resource_config;  // path; empty: none
  std::string include_hosts;    // filters in DeepSpeed's grammar; make_plan() refuses both at once
  std::string exclude_hosts;
  HostOrder host_order = HostOrder::Given;
  std::optional<std::uint32_t> host_count;      // use only the first hosts; nullopt: all
  std::string groups;                           // of the hosts in resourceconfig.json, separated by commas; empty: all
  std::string host_source;                      // the only source that may be used; empty: the first available
  std::optional<std::uint32_t> nproc_per_node;  // slots of each host; nullopt: by slots_rule
  SlotsRule slots_rule = SlotsRule::Auto;
  SlotsHold slots_hold = SlotsHold::WhereNoneNamed;
  plan::RankLayout layout;  // its rankfile comes from the file that `rankfile` names
  std::string rankfile;     // path; empty: none
  plan::BindingRequest binding;
  BindRule bind_rule = BindRule::None;
  Processors processors = Processors::Cores;
  SetByUser bind_to_set = SetByUser::No;  // by --bind-to
  std::vector<std::string> bind_lists;    // cores of each local rank, as in a rankfile; see bind_by_lists()
  SetByUser map_by_said = SetByUser::No;  // by --map-by
  std::optional<plan::VisibleDevices> visible_devices;  // nullopt: PerRank if gpus_per_rank is given, else All
  std::optional<std::uint32_t> gpus_per_rank;
  plan::ExportPolicy export_policy = plan::ExportPolicy::All;
  plan::SecretExport secrets = plan::SecretExport::Withheld;
  std::optional<std::uint32_t> show_env;  // the rank whose environment is printed; only with dry_run
  std::string start_by{"auto"};           // a name of starters::way_names()
  std::string agent_path;                 // empty: the embedded agent
  std::optional<PlanFormat> dry_run;      // print the plan in this format, and start no worker; nullopt: run the job
  Preflight check = Preflight::No;
  PlanFormat format = PlanFormat::Text;  // of output that is printed instead of running a job
  Explain explain = Explain::No;
  std::optional<Shell> completion;    // print the completion script for this shell; nullopt: run the job
  std::string links_folder;           // make links for other launchers here, instead of running a job; empty: none
  std::string config_file;            // empty: none
  std::vector<std::string> warnings;  // from parsing the options
  ArrayOptions array;
  std::vector<plan::Channel> channels;           // with folders as given, not yet absolute
  plan::Environment extra_variables;             // from take_array_line() and prepare_training(); -x takes precedence
  std::string run_id;                            // TORCHELASTIC_RUN_ID; empty: the job's id
  SetByUser nproc_said = SetByUser::No;          // --nproc-per-node is given, including auto
  plan::WorldTold world = plan::WorldTold::Yes;  // No: workers get only the variables SML_*
  plan::TorchStore torch_store = plan::TorchStore::OfRank0;
  SetByUser torch_store_set = SetByUser::No;  // by --torch-store or --no-torch-store
  bool display_map = false;                   // print the plan before the start
  std::vector<std::string> without_effect;    // options of other launchers without effect, as written
};

}  // namespace sml
