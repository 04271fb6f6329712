// The part of the command line that a running job obeys. What is needed only to find the hosts and to plan is in
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
#include "common/os/log_files.h"
#include "common/output/log_layout.h"
#include "common/output/stream_routes.h"
#include "common/output/tag_template.h"
#include "common/plan/launch_plan.h"
#include "launcher/options/rank_monitor_options.h"
#include "launcher/options/restart_options.h"
#include "launcher/report/line_watch.h"
#include "launcher/report/verdict.h"
#include "launcher/ssh/ssh_options.h"

namespace sml {

enum class Verbosity : std::uint8_t { Quiet, Normal, Verbose };
enum class OnFailure : std::uint8_t { Abort, Continue };
// What becomes of a job of several ranks that speak MPI, each of which would run alone.
enum class LoneMpi : std::uint8_t { Warned, Refused };
// Which workers get the launcher's standard input.
enum class StdinRule : std::uint8_t { None, All, OneRank };

// Whether what workers print is made safe for a terminal; Auto: where it goes to one.
enum class Sanitize : std::uint8_t { Auto, Always, Never };
enum class Color : std::uint8_t { Auto, Always, Never };
// Auto: Collapse and Fold for several workers at a terminal, else Pass. Collapse does nothing to the bar of a single
// worker at a terminal, which redraws itself.
enum class ProgressBars : std::uint8_t { Auto, Pass, Collapse };
enum class EqualLines : std::uint8_t { Auto, Pass, Fold };

// What becomes of the workers' output.
struct OutputOptions {
  std::optional<output::TagTemplate> tag;  // before each line; nothing: "[RANK] " where there are several workers
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

// The file in which a platform looks for the reason of a failure.
enum class FailureFile : std::uint8_t { Wanted, None };
enum class FailureKind : std::uint8_t { Failure, Message };  // of a training job, of a processing job
struct FailureOptions {
  FailureFile wanted = FailureFile::Wanted;
  FailureKind kind = FailureKind::Failure;
  std::string path;  // empty: none
};

// What is told of a job, and asked of it, while it runs.
enum class LiveStatus : std::uint8_t { OnTerminal, Never };
enum class OnSilent : std::uint8_t { NameThem, Report, Restart, Stop };
struct ProgressOptions {
  LiveStatus live = LiveStatus::OnTerminal;
  std::optional<int> status_signal;     // prints a table of hosts and ranks
  std::optional<Duration> warn_silent;  // names ranks that print nothing while others do
  OnSilent on_silent = OnSilent::NameThem;
  std::optional<report::WatchRule> watch;  // what ranks must print
  std::string hang_folder;                 // keeps where ranks were; empty: none
};

// How workers are told that they are to end.
struct CheckpointTime {
  int signo = 0;  // before anything else
  Duration most{};
};
struct StopOptions {
  int signal = SIGTERM;
  std::optional<SignalTarget> target;        // nothing: Group, and Worker of the checkpoint signal
  std::optional<CheckpointTime> checkpoint;  // where nobody outside has asked for the end
};

struct JobOptions {
  UsageLook usage = UsageLook::Yes;
  FailureOptions failure;
  Duration grace = std::chrono::seconds(10);
  StopOptions stop;
  std::optional<Duration> stop_grace;  // the same after a stop signal; empty: grace
  Duration start_timeout = std::chrono::seconds(60);
  Duration heartbeat_timeout = std::chrono::seconds(30);
  std::optional<Duration> timeout;  // of the workers, from their start
  int timeout_status = report::kTimedOutExit;
  std::vector<int> forward_signals{SIGUSR1, SIGUSR2, SIGWINCH};
  plan::TorchStore torch_store = plan::TorchStore::OfRank0;
  std::string master_address;                     // numeric; empty: the first that every host reaches
  std::vector<std::string> interfaces;            // names and networks of those to use; empty: any
  Duration join_warn = std::chrono::seconds(60);  // zero: never
  OnFailure on_failure = OnFailure::Abort;
  RestartOptions restart;
  std::vector<std::string> preload;  // modules of Python; empty: none
  RankMonitorOptions rank_monitor;
  LoneMpi lone_mpi = LoneMpi::Warned;
  plan::MpiMeeting mpi = plan::MpiMeeting::Auto;  // the plan has it, too
  std::string pmix_library;                       // likewise
  StderrOfWorkers stderr_of_workers = StderrOfWorkers::Apart;
  StdoutOfWorkers stdout_of_workers = StdoutOfWorkers::Pipe;
  StdinRule stdin_rule = StdinRule::OneRank;
  Rank stdin_rank;                          // for OneRank
  std::string report_file;                  // empty: none
  std::string events_file;                  // empty: none
  std::vector<std::string> timeline_files;  // .html or .json
  LogOptions logs;
  SshOptions ssh;
  OutputOptions output;
  ProgressOptions progress;
  Verbosity verbosity = Verbosity::Normal;
};

}  // namespace sml
