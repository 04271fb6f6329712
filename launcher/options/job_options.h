// The options that apply while a job runs. Options for finding the hosts and planning are in
// launcher/options/options.h.
#pragma once
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/rank_set.h"
#include "common/core/signal_target.h"
#include "common/core/strong.h"
#include "common/core/usage.h"
#include "common/os/logs/log_files.h"
#include "common/plan/launch_plan.h"
#include "launcher/options/observer_options.h"
#include "launcher/options/rank_monitor_options.h"
#include "launcher/options/restart_options.h"
#include "launcher/output/log_layout.h"
#include "launcher/output/stream_routes.h"
#include "launcher/output/tag_template.h"
#include "launcher/report/live/line_watch.h"
#include "launcher/report/outcome/job_outcome.h"
#include "launcher/transport/ssh/ssh_options.h"

namespace sml {

enum class Verbosity : std::uint8_t { Quiet, Normal, Verbose };
enum class OnFailure : std::uint8_t { Abort, Continue };
// How to treat a job whose several ranks use MPI, but would each run as a singleton.
enum class MpiSingleton : std::uint8_t { Warned, Refused };
// Which workers read the launcher's standard input.
enum class StdinRule : std::uint8_t { None, All, OneRank };

// Whether the workers' output is made safe for a terminal; Auto: if it goes to one.
enum class Sanitize : std::uint8_t { Auto, Always, Never };
enum class Color : std::uint8_t { Auto, Always, Never };
// Auto: Collapse and Fold for several workers with tags at a terminal, else Pass. Collapse does nothing to the bar of a
// single worker at a terminal, which redraws itself.
enum class ProgressBars : std::uint8_t { Auto, Pass, Collapse };
enum class EqualLines : std::uint8_t { Auto, Pass, Fold };

// How the workers' output is printed.
struct OutputOptions {
  std::optional<output::TagTemplate> tag;  // before each line; nullopt: "[RANK] " if there are several workers
  Sanitize sanitize = Sanitize::Auto;
  Color color = Color::Auto;                    // of the tags
  std::optional<RankSet> shown_ranks;           // whose output goes to ours; nothing: all
  std::optional<RankSet> shown_local_ranks;     // the same on each host
  output::StreamRoutes routes;                  // what goes into logs, and what to our output
  std::optional<output::TagTemplate> teed_tag;  // of streams that routes.teed names; nothing: `tag`
  ProgressBars progress_bars = ProgressBars::Auto;
  EqualLines equal_lines = EqualLines::Auto;
  enum class Gone : std::uint8_t { EndsJob, IsIgnored } when_gone = Gone::EndsJob;  // our stdout has no reader any more
};

enum class StderrOfWorkers : std::uint8_t { Apart, WithStdout };  // WithStdout: both are one pipe
enum class StdoutOfWorkers : std::uint8_t { Pipe, Terminal };

enum class LogPlace : std::uint8_t { Here, Hosts };     // writer of the logs: the launcher, or each agent on its host
enum class OnLogFault : std::uint8_t { Warn, EndJob };  // if a log cannot be written
enum class CopyToOutput : std::uint8_t { No, Yes };     // whether output that goes to logs is printed, too

// Lines of all ranks of --tee, or of all ranks, that are also written to one file below the log folder.
struct MatchedLineOptions {
  std::vector<std::string> stdout_words{};  // a line of stdout with one of these is written; empty: no file
  std::vector<std::string> stderr_words{};
  std::string layout{output::LogLayout::kMatched};
};

// Per-rank log files.
struct LogOptions {
  std::string directory;  // empty: no logs
  std::string layout{output::LogLayout::kDefault};
  LogPlace place = LogPlace::Here;
  os::LogRules rules;
  OnLogFault on_fault = OnLogFault::Warn;
  CopyToOutput copy = CopyToOutput::Yes;
  MatchedLineOptions matched{};
};

// The bytes that ranks write to the descriptor SML_RESULTS_FD, for the caller of sml-run.
struct ResultOptions {
  std::string file;                               // empty: ranks have no such descriptor
  std::uint64_t limit = std::uint64_t{64} << 20;  // bytes of a rank in an attempt
};

// The file from which a platform reads the reason of a failure.
enum class FailureFile : std::uint8_t { Wanted, None };
enum class FailureKind : std::uint8_t { Failure, Message };  // the file of a training job, or of a processing job
struct FailureOptions {
  FailureFile wanted = FailureFile::Wanted;
  FailureKind kind = FailureKind::Failure;
  std::string path;         // empty: none
  std::string json_path{};  // for the error file of the root cause, as torchrun leaves it; empty: none
};

// How the progress of a job is shown and watched while it runs.
enum class LiveStatus : std::uint8_t { OnTerminal, Never };
enum class OnSilent : std::uint8_t { NameThem, Report, Restart, Stop };
struct ProgressOptions {
  LiveStatus live = LiveStatus::OnTerminal;
  std::optional<int> status_signal;     // prints a table of hosts and ranks
  std::optional<Duration> warn_silent;  // names ranks that print nothing while others do
  OnSilent on_silent = OnSilent::NameThem;
  std::optional<report::WatchRule> watch;  // lines that ranks must print
  std::string hang_folder;                 // folder for reports of where ranks are; empty: none
};

// How workers are asked to end.
struct CheckpointTime {
  int signo = 0;  // sent before the stop signal
  Duration most{};
};
struct StopOptions {
  int signal = SIGTERM;
  std::optional<SignalTarget> target;        // nullopt: Group, and Worker for the checkpoint signal
  std::optional<CheckpointTime> checkpoint;  // unless the end is requested from outside the job
};

struct JobOptions {
  UsageLook usage = UsageLook::Yes;
  FailureOptions failure;
  Duration grace = std::chrono::seconds(10);
  StopOptions stop;
  std::optional<Duration> stop_grace;  // grace after a stop signal; nullopt: as `grace`
  Duration start_timeout = std::chrono::seconds(60);
  Duration heartbeat_timeout = std::chrono::seconds(30);
  std::optional<Duration> timeout;  // for the workers, from their start
  int timeout_status = report::kTimedOutExit;
  std::vector<int> forward_signals{SIGUSR1, SIGUSR2, SIGWINCH};
  std::string master_address;                     // numeric; empty: the first address that every host can connect to
  std::vector<std::string> interfaces;            // names and networks of interfaces to use; empty: any
  Duration join_warn = std::chrono::seconds(60);  // zero: no warning
  OnFailure on_failure = OnFailure::Abort;
  RestartOptions restart;
  std::vector<std::string> preload;  // Python modules; empty: none
  RankMonitorOptions rank_monitor;
  MpiSingleton lone_mpi = MpiSingleton::Warned;
  plan::PmiMode mpi = plan::PmiMode::Auto;  // also part of the plan
  std::string pmix_library;                 // also part of the plan
  StderrOfWorkers stderr_of_workers = StderrOfWorkers::Apart;
  StdoutOfWorkers stdout_of_workers = StdoutOfWorkers::Pipe;
  StdinRule stdin_rule = StdinRule::OneRank;
  Rank stdin_rank;          // for OneRank
  std::string report_file;  // empty: none
  ResultOptions results;
  std::string events_file;                  // empty: none
  std::vector<std::string> timeline_files;  // .html or .json
  std::string protocol_file;                // of --trace-protocol; empty: none
  LogOptions logs;
  SshOptions ssh;
  OutputOptions output;
  ProgressOptions progress;
  ObserverOptions observers;
  Verbosity verbosity = Verbosity::Normal;
};

}  // namespace sml
