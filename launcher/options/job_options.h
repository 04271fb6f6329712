// The options that apply while a job runs, as plain values with their defaults. Options for finding the first hosts and
// for planning are in launcher/options/options.h.
#pragma once
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/rank_set.h"
#include "common/core/scratch_rule.h"
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
// When a worker fails: the others are ended, or go on.
enum class OnFailure : std::uint8_t { Abort, Continue };
// How to treat a job of several ranks that use MPI, but would each run as a singleton, that is, as a world of one rank.
enum class MpiSingleton : std::uint8_t { Warned, Refused };
// Which workers read the launcher's standard input.
enum class StdinRule : std::uint8_t { None, All, OneRank };

// Whether the workers' output is made safe for a terminal. Auto: if it goes to a terminal.
enum class Sanitize : std::uint8_t { Auto, Always, Never };
// Whether tags are coloured. Auto: if the output goes to a terminal.
enum class Color : std::uint8_t { Auto, Always, Never };
// How progress bars and equal lines of several workers are printed. Pass: unchanged. Collapse: of each bar, one state a
// second. Fold: equal lines as one. Auto: Collapse and Fold for several workers with tags at a terminal, else Pass. At
// a terminal, Collapse has an effect only there, too: the bar of a single worker redraws itself.
enum class ProgressBars : std::uint8_t { Auto, Pass, Collapse };
enum class EqualLines : std::uint8_t { Auto, Pass, Fold };

// How the workers' output is printed.
struct OutputOptions {
  std::optional<output::TagTemplate> tag;  // before each line; nullopt: "[RANK] " if there are several workers
  Sanitize sanitize = Sanitize::Auto;
  Color color = Color::Auto;                    // of the tags
  std::optional<RankSet> shown_ranks;           // the ranks whose output is printed; nullopt: all
  std::optional<RankSet> shown_local_ranks;     // the same by local rank, on each host
  output::StreamRoutes routes;                  // which streams go into logs, and which are printed
  std::optional<output::TagTemplate> teed_tag;  // of streams that routes.teed names; nullopt: `tag`
  ProgressBars progress_bars = ProgressBars::Auto;
  EqualLines equal_lines = EqualLines::Auto;
  // Whether the job ends if the output can no longer be written, as its reader has gone.
  enum class Gone : std::uint8_t { EndsJob, IsIgnored } when_gone = Gone::EndsJob;
};

// Whether a worker has a pipe of its own for stderr.
enum class StderrOfWorkers : std::uint8_t { Apart, WithStdout };  // WithStdout: stdout and stderr are one pipe
enum class StdoutOfWorkers : std::uint8_t { Pipe, Terminal };

// The writer of the logs. Here: the launcher, for all hosts. Hosts: each agent, on its own host.
enum class LogPlace : std::uint8_t { Here, Hosts };
enum class OnLogFault : std::uint8_t { Warn, EndJob };  // if a log cannot be written
enum class CopyToOutput : std::uint8_t { No, Yes };     // whether output that goes to logs is printed, too

// Lines that contain certain words are also written to a file below the log folder: `layout`, a template of LogLayout,
// is its path; one file serves all ranks, unless the template has a placeholder such as {rank}. Applies to the streams
// that --tee selects, or, if neither --tee nor --redirects is given, to all streams.
struct MatchedLineOptions {
  std::vector<std::string> stdout_words{};  // a line of stdout with one of them is written; empty: no file
  std::vector<std::string> stderr_words{};  // the same for stderr
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
  std::uint64_t limit = std::uint64_t{64} << 20;  // bytes that one rank may write in an attempt
};

// Whether choose_failure_file() may choose the platform's FailureOptions::path if the user gives none.
enum class FailureFile : std::uint8_t { Wanted, None };
// The platform's limit for the length of the text: that of a training job's file, or of a processing job's.
enum class FailureKind : std::uint8_t { Failure, Message };
struct FailureOptions {
  FailureFile wanted = FailureFile::Wanted;
  FailureKind kind = FailureKind::Failure;
  std::string path;         // of the file from which a platform reads the reason of a failure; empty: it is not written
  std::string json_path{};  // where the error file of the root cause is copied, as by torchrun; empty: nowhere
};

// How the progress of a job is shown and watched while it runs.
enum class LiveStatus : std::uint8_t { OnTerminal, Never };
// The reaction to ranks that have become silent: name them, report where they are, restart the job, or stop it.
enum class OnSilent : std::uint8_t { NameThem, Report, Restart, Stop };
struct ProgressOptions {
  LiveStatus live = LiveStatus::OnTerminal;
  std::optional<int> status_signal;     // makes sml-run print a table of hosts and ranks; nullopt: none
  std::optional<Duration> warn_silent;  // after this silence, while other ranks print, a rank is named; nullopt: never
  OnSilent on_silent = OnSilent::NameThem;
  std::optional<report::WatchRule> watch;  // the lines that ranks must print; nullopt: none
  std::string hang_folder;                 // folder for reports of where ranks are; empty: none
};

// The signal that asks workers to save their state before they are ended.
struct CheckpointTime {
  int signo = 0;    // sent before the stop signal
  Duration most{};  // time that they get for it
};
// How workers are asked to end. `target` holds for all signals that sml-run sends or passes on to workers.
struct StopOptions {
  int signal = SIGTERM;
  std::optional<SignalTarget> target;  // nullopt: Group, but Worker for the checkpoint signal
  // Used only if sml-run itself decides to end the workers: not after a stop signal, nor if the reader of the output
  // has gone. nullopt: none.
  std::optional<CheckpointTime> checkpoint;
};

struct JobOptions {
  UsageLook usage = UsageLook::Yes;
  FailureOptions failure;
  Duration grace = std::chrono::seconds(10);  // between the stop signal and SIGKILL
  StopOptions stop;
  std::optional<Duration> stop_grace;  // in place of `grace` when the user or a signal stops the job; nullopt: `grace`
  Duration start_timeout = std::chrono::seconds(60);
  Duration heartbeat_timeout = std::chrono::seconds(30);
  std::optional<Duration> timeout;             // for the workers, from their start; nullopt: no limit
  int timeout_status = report::kTimedOutExit;  // sml-run's exit status when `timeout` is over
  std::vector<int> forward_signals{SIGUSR1, SIGUSR2, SIGWINCH};
  std::string master_address;  // numeric, of rank 0's host; empty: the first address that every host can connect to
  std::vector<std::string> interfaces;            // names and networks of interfaces to use; empty: any
  Duration join_warn = std::chrono::seconds(60);  // then warn about ranks that have not joined; zero: never
  OnFailure on_failure = OnFailure::Abort;
  RestartOptions restart;
  std::vector<std::string> preload;  // Python modules; empty: none
  RankMonitorOptions rank_monitor;
  MpiSingleton mpi_singleton = MpiSingleton::Warned;
  plan::PmiMode mpi = plan::PmiMode::Auto;  // make_plan() copies it into the plan
  std::string pmix_library;                 // likewise
  StderrOfWorkers stderr_of_workers = StderrOfWorkers::Apart;
  StdoutOfWorkers stdout_of_workers = StdoutOfWorkers::Pipe;
  StdinRule stdin_rule = StdinRule::OneRank;
  Rank stdin_rank;          // for StdinRule::OneRank
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
  ScratchRule scratch = ScratchRule::Removed;  // of the agents' folders
};

}  // namespace sml
