// What the command line asks for, as plain values: already checked one by one, not yet held against each other or the
// machine.
#pragma once
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/rank_set.h"
#include "common/core/strong.h"
#include "common/os/log_files.h"
#include "common/output/log_layout.h"
#include "common/output/tag_template.h"
#include "common/plan/job_map.h"
#include "common/plan/launch_plan.h"

namespace sml {

enum class PlanFormat : std::uint8_t { Text, Json };
enum class Verbosity : std::uint8_t { Quiet, Normal, Verbose };
enum class SlotsRule : std::uint8_t { Auto, Gpu, Cpu };  // how slots are counted where no source names them
enum class HostKeyPolicy : std::uint8_t { FromConfig, AcceptNew };

enum class HostOrder : std::uint8_t { Given, Natural };

struct SshOptions {
  std::optional<std::uint16_t> port;
  std::string user;
  std::string identity_file;
  std::string config_file;           // empty: ~/.ssh/config and /etc/ssh/ssh_config
  std::vector<std::string> command;  // --ssh-command, split into words; empty: libssh
  HostKeyPolicy host_keys = HostKeyPolicy::FromConfig;
  std::uint32_t fanout = 64;                            // log-ins under way at the same time
  Duration connect_timeout = std::chrono::seconds(15);  // each of: TCP connection, log-in
};

enum class OnFailure : std::uint8_t { Abort, Continue };
// Which workers get the launcher's standard input.
enum class StdinRule : std::uint8_t { None, All, OneRank };

// Whether what workers print is made safe for a terminal; Auto: where it goes to one.
enum class Sanitize : std::uint8_t { Auto, Always, Never };
enum class Color : std::uint8_t { Auto, Always, Never };
enum class ProgressBars : std::uint8_t { Pass, Collapse };  // Collapse: where the output is no terminal
enum class EqualLines : std::uint8_t { Pass, Fold };

// What becomes of the workers' output.
struct OutputOptions {
  std::optional<output::TagTemplate> tag;  // before each line; nothing: "[RANK] " where there are several workers
  Sanitize sanitize = Sanitize::Auto;
  Color color = Color::Auto;           // of the tags
  std::optional<RankSet> shown_ranks;  // whose output goes to ours; nothing: all
  ProgressBars progress_bars = ProgressBars::Pass;
  EqualLines equal_lines = EqualLines::Pass;
  enum class Gone : std::uint8_t { EndsJob, IsIgnored } when_gone = Gone::EndsJob;  // our stdout has no reader any more
};

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

enum class LogPlace : std::uint8_t { Here, Hosts };     // who writes: the launcher, or each agent on its host
enum class OnLogFault : std::uint8_t { Warn, EndJob };  // a log that cannot be written
enum class CopyToOutput : std::uint8_t { No, Yes };     // whether what goes into logs is printed too

// Per-rank files.
struct LogOptions {
  std::string directory;  // empty: none
  std::string layout{output::LogLayout::kDefault};
  LogPlace place = LogPlace::Here;
  os::LogRules rules;
  OnLogFault on_fault = OnLogFault::Warn;
  CopyToOutput copy = CopyToOutput::Yes;
};

// What is started: the program of the command line, or that of a SageMaker training job.
enum class Mode : std::uint8_t { Program, Train };
enum class HyperparameterStyle : std::uint8_t { Toolkit, V3 };
enum class Installation : std::uint8_t { Yes, No };
struct TrainingOptions {
  HyperparameterStyle style = HyperparameterStyle::Toolkit;
  Installation install = Installation::Yes;
};

// The file in which a platform looks for the reason of a failure.
enum class FailureFile : std::uint8_t { Wanted, None };
enum class FailureKind : std::uint8_t { Failure, Message };  // of a training job, of a processing job
struct FailureOptions {
  FailureFile wanted = FailureFile::Wanted;
  FailureKind kind = FailureKind::Failure;
  std::string path;  // empty: none
};

struct Options {
  Mode mode = Mode::Program;
  TrainingOptions training;
  FailureOptions failure;
  std::optional<std::uint32_t> np;
  std::string hosts;            // text of -H
  std::string hostfile;         // path
  std::string resource_config;  // path
  std::string include_hosts;    // filters in DeepSpeed's grammar; at most one of the two
  std::string exclude_hosts;
  HostOrder host_order = HostOrder::Given;
  std::string host_source;  // the only one that may be used; empty: the first that is there
  std::optional<std::uint32_t> nproc_per_node;
  SlotsRule slots_rule = SlotsRule::Auto;
  plan::Oversubscribe oversubscribe = plan::Oversubscribe::No;
  std::vector<std::string> export_variables;  // the -x words in order: NAME, NAME=VALUE or PREFIX_*
  std::vector<std::string> env_files;
  plan::ExportPolicy export_policy = plan::ExportPolicy::All;
  std::string working_directory;  // empty: the launcher's
  Duration grace = std::chrono::seconds(10);
  Duration start_timeout = std::chrono::seconds(60);
  Duration heartbeat_timeout = std::chrono::seconds(30);
  std::optional<Duration> timeout;  // of the workers, from their start
  std::vector<int> forward_signals{SIGUSR1, SIGUSR2, SIGWINCH};
  plan::TorchStore torch_store = plan::TorchStore::OfAgent;
  std::string master_address;                     // numeric; empty: the first that every host reaches
  Duration join_warn = std::chrono::seconds(60);  // zero: never
  std::optional<std::uint32_t> show_env;          // rank; only with dry_run
  OnFailure on_failure = OnFailure::Abort;
  StdinRule stdin_rule = StdinRule::OneRank;
  Rank stdin_rank;                          // for OneRank
  std::string report_file;                  // empty: none
  std::string events_file;                  // empty: none
  std::vector<std::string> timeline_files;  // .html or .json
  LogOptions logs;
  SshOptions ssh;
  std::string agent_path;  // empty: the embedded agent
  OutputOptions output;
  std::optional<PlanFormat> dry_run;
  Verbosity verbosity = Verbosity::Normal;
  ArrayOptions array;
  plan::Environment extra_variables;  // of take_array_line() and prepare_training(); -x has more say
  std::vector<std::string> command;
};

}  // namespace sml
