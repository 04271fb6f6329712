// The command line's options as plain values: each checked by itself, but not yet against each other or the machine.
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

enum class PlanFormat : std::uint8_t { Text, Json };
enum class Explain : std::uint8_t { No, Yes };
enum class Preflight : std::uint8_t { No, Yes };  // the hosts are checked, and no worker is started
// How slots are counted if no source gives them. GpuOrCpu: the CPUs if there is no GPU; Core: cores of this machine,
// whatever else it has.
enum class SlotsRule : std::uint8_t { Auto, Gpu, Cpu, GpuOrCpu, Core };
// whether the count overrides slots in a host list
enum class SlotsHold : std::uint8_t { WhereNoneNamed, OnEveryHost };

// How workers are bound if no option specifies it.
enum class BindRule : std::uint8_t { None, OpenMpi };
// The unit that BindRule::OpenMpi binds to, of slots with SlotsRule::Core, and of --cpus-per-rank.
enum class Processors : std::uint8_t { Cores, Hwthreads };
enum class SaidByUser : std::uint8_t { No, Yes };

enum class HostOrder : std::uint8_t { Given, Natural };

// The line of a file that this run of an array job has.
struct ArrayOptions {
  std::string file;  // empty: no array
  std::vector<std::string> names;
  std::optional<std::uint32_t> index;  // nullopt: from the batch system
  std::optional<std::uint32_t> base;   // index of the first line; nullopt: from the batch system, else 0
};

// The program that is started: the one on the command line, or that of a SageMaker training job.
enum class Mode : std::uint8_t { Program, Train };
enum class HyperparameterStyle : std::uint8_t { Toolkit, V3 };
enum class Installation : std::uint8_t { Yes, No };
struct TrainingOptions {
  std::optional<HyperparameterStyle> style;  // nullopt: that of the SDK which made the job
  Installation install = Installation::Yes;
};

// Options of jobs in which sml-run is started on every host, and the others call the first.
// The material for the job key if there is no secret.
enum class KeyRule : std::uint8_t {
  Secret,   // nothing, except where a platform isolates the hosts of a job from others
  Insecure  // names that can be guessed
};
enum class MakeSecret : std::uint8_t { No, Yes };  // the user's file is made, and nothing is started
// Whether every host says of all how many workers they have, and in which role, or each host for itself.
enum class SharesAre : std::uint8_t { Alike, OfEachHost };

struct DialInOptions {
  static constexpr Duration kLastCall = std::chrono::seconds(30);  // the default of torch's rendezvous

  std::optional<std::uint32_t> hosts;  // maximum number of hosts; nullopt: as many as are named
  std::optional<std::uint32_t> least;  // the number of hosts that suffices; nullopt: all are needed
  Duration last_call = kLastCall;      // time to wait for more hosts once `least` have called
  std::optional<std::uint32_t> place;  // index of this host; 0 is the coordinator
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
  std::vector<plan::FifoChannel> channels;  // --pipe-fanout
  std::uint32_t epochs = 0;                 // 0: no limit
};

enum class LocalRankArgument : std::uint8_t { No, Yes };  // Yes: --local_rank=N is the first argument

// Options of each program on the command line; programs are separated by ":".
struct ProgramOptions {
  std::optional<std::uint32_t> np;
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
  std::string app_file;  // path of a file with the programs
  std::set<plan::Preset> presets;
  std::string hostfile;         // path
  std::string resource_config;  // path
  std::string include_hosts;    // filters in DeepSpeed's grammar; at most one of the two is set
  std::string exclude_hosts;
  HostOrder host_order = HostOrder::Given;
  std::optional<std::uint32_t> host_count;  // use only the first hosts; nullopt: all
  std::string groups;                       // of the hosts in resourceconfig.json, separated by commas; empty: all
  std::string host_source;                  // the only source that may be used; empty: the first available
  std::optional<std::uint32_t> nproc_per_node;
  SlotsRule slots_rule = SlotsRule::Auto;
  SlotsHold slots_hold = SlotsHold::WhereNoneNamed;
  plan::RankLayout layout;  // its rankfile is read from this one:
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
  std::string start_by{"auto"};           // a name of starters::starter_names()
  std::string agent_path;                 // empty: the embedded agent
  std::optional<PlanFormat> dry_run;
  Preflight check = Preflight::No;
  PlanFormat format = PlanFormat::Text;  // of output that is printed instead of running a job
  Explain explain = Explain::No;
  std::optional<Shell> completion;    // the shell for which a script is printed
  std::string links_folder;           // where links for other launchers are made, instead of running a job; empty: none
  std::string config_file;            // empty: none
  std::vector<std::string> warnings;  // from parsing the options
  ArrayOptions array;
  std::vector<plan::Channel> channels;           // with folders as given
  plan::Environment extra_variables;             // from take_array_line() and prepare_training(); -x takes precedence
  std::string run_id;                            // TORCHELASTIC_RUN_ID; empty: the job's id
  SaidByUser nproc_said = SaidByUser::No;        // --nproc-per-node is given, including auto
  plan::WorldTold world = plan::WorldTold::Yes;  // see prepare_training()
  plan::TorchStore torch_store = plan::TorchStore::OfRank0;
  SaidByUser torch_store_said = SaidByUser::No;  // by an option
  bool display_map = false;                      // print the plan before the start
  std::vector<std::string> without_effect;       // options of other launchers without effect, as written
};

}  // namespace sml
