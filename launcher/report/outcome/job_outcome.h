// The outcome of a job: its exit status, its root cause, and the text for both. Pure.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/exit_status.h"
#include "common/core/strong.h"
#include "common/core/usage.h"
#include "launcher/report/live/line_watch.h"
#include "launcher/report/outcome/error_file.h"

namespace sml::report {

inline constexpr int kNoProgressExit = 123;
inline constexpr int kTimedOutExit = 124;

// If the first rank to fail had only lost another rank, a rank that fails by itself within this time is the root cause.
inline constexpr Duration kRootCauseWindow = std::chrono::seconds(1);

// All facts that the outcome depends on, collected while the job runs. Times are on the launcher's clock.
struct AttemptFacts {
  struct WorkerEnd {
    Rank rank;
    std::string host;
    std::int32_t pid = -1;  // -1: was not started
    ExitStatus status;
    bool by_itself = true;                // false: after the launcher had begun to stop it
    TimePoint at;                         // TimePoint(): its end was not observed, and `status` means nothing
    WorkerError error;                    // its own report of the error
    std::vector<std::string> last_lines;  // of its stderr
    std::string out_of_memory;            // evidence that it was killed for lack of memory; empty: none
    std::string program{};                // argv[0], if the job has several programs; else empty
    // A service of the agent found that the rank had failed before its process ended: what it did, as the part of a
    // sentence after "rank 3 on algo-1". `status` and `at` are then from the service. Empty: those of the process.
    std::string fault{};
    bool aborted = false;          // with `fault`: the rank asked for the end of the job, as by MPI_Abort
    bool keeps_lines = false;      // its last lines may be missing: they were still in the buffer of its C library
    std::string role{};            // empty if the job has one program
    std::optional<Usage> usage{};  // nullopt: its end was not observed
  };
  struct HostFault {
    HostIndex index;  // determines the order of names in messages
    std::string host;
    Error why;
    TimePoint at;
  };
  std::string program;          // argv[0], for messages
  bool stdout_is_pipe = true;   // that of the workers
  std::optional<Rank> input{};  // the one rank that has the input of sml-run
  TimePoint started;            // of the workers; of the launcher while none runs
  TimePoint first_start;        // ... of the job's first attempt
  std::vector<WorkerEnd> ends;  // of workers that failed or were stopped; not of those that succeeded
  std::vector<HostFault> faults;
  std::vector<HostFault> lost_in_stop;  // hosts whose agent was lost while the workers were being stopped
  std::optional<int> stop_signal;       // the first stop signal of the user
  TimePoint stop_at;                    // when that came
  bool stopped_at_rest = false;         // the signal came when this attempt was over, and still counts as the cause
  std::optional<TimePoint> regroups;    // when the attempt was ended so that other hosts get workers
  std::optional<TimePoint> timed_out;   // when the time of --timeout was over
  std::optional<Duration> waited_out;   // time since the first start, if the limit passed while no worker ran
  int timeout_status = kTimedOutExit;
  struct OwnFault {
    Error why;
    TimePoint at;
  };
  struct Stalled {
    NoProgress what;
    std::string who;  // the ranks in words
    TimePoint at;
  };
  std::optional<Stalled> stalled;        // set if --watch or --on-silent ended the attempt
  std::optional<OwnFault> own_fault;     // why the launcher itself ended the job
  bool output_gone = false;              // stdout accepts no more data
  int output_errno = 0;                  // the error; 0 or EPIPE: it has no reader
  std::vector<std::string> left_behind;  // "algo-3: pid 4711 (python3), state D": processes that could not be ended
  std::size_t unseen = 0;                // ranks whose end was not observed, or that never ran
  std::vector<std::string> unconfirmed;  // hosts whose agent has not confirmed that all processes have ended
};

// The kind of the root cause.
enum class FailureCause : std::uint8_t {
  Success,
  Worker,
  Host,
  Stalled,
  User,
  TimeLimit,
  Launcher,
  Output,
  Unknown,
  Regroup  // no failure: the attempt ended so that other hosts get workers; counts as a lost host if none follows
};

struct JobOutcome {
  int exit_code = 0;
  FailureCause by = FailureCause::Success;
  const AttemptFacts::WorkerEnd* root_cause =
      nullptr;                     // the worker that is the root cause, if one is; points into the facts
  std::vector<std::string> lines;  // for stderr, without "sml-run: "; empty if the job succeeded
};

// The outcome in one line, for programs; "all workers exited with status 0" after a success. A job that ended because
// the reader of its output was gone has no line for people, but one here.
std::string in_words(const JobOutcome& verdict);

// Decides the outcome of an attempt. The root cause is what came first: a worker that ended by itself, a host that
// failed, a stop signal of the user, ranks that make no progress, a failure of the launcher, the time limit, or a
// regroup. Lost output has no time: it is the cause only if there is no other.
//
// If the worker that ended first exited with 1, aborted, or asked for the end of the job, it may have lost another
// rank. Two rules then choose another worker:
// - One that died by SIGKILL, SIGSEGV, SIGBUS or SIGILL within a second after that, or by SIGABRT within a fifth of a
//   second: such a process is slow to end (memory to free, a core to write), while other ranks see at once that it has
//   gone.
// - If the first printed only that it had lost another rank (Cascade, see causes.h): one that ended by itself within a
//   second after that, and printed something else; or, if the first asked for the end of the job, one that ended
//   without asking for that.
//
// Host failures with the same error share one line that names all their hosts, in host order. `facts` must outlive the
// result.
JobOutcome judge(const AttemptFacts& facts);

// Whether the worker ended as a rank does that has lost another rank. The other rank is then the cause if it fails by
// itself within kRootCauseWindow.
bool is_consequence(const AttemptFacts::WorkerEnd& end);

// Whether a stop signal that the launcher gets at the time `at`, when the attempt is over already, is its cause after
// all: the worker or the agent that ended first, or the agent that ended between two attempts, has ended by the same
// signal within the last second. A batch system signals all processes of a job at once.
bool counts_late(const AttemptFacts& facts, int signo, TimePoint at);

// Whether the worker was killed by SIGKILL, and no evidence shows by whom. A kill by the kernel for lack of memory is
// known only if the rank has a cgroup that counts these kills.
bool was_killed_by_others(const AttemptFacts::WorkerEnd& end);

// If all processes of a host are killed, a worker may die before the agent, which then still reports that worker's end.
// If the root cause is such a worker, and its host was lost afterwards, adds `lost_in_stop` to `faults` with a time
// just before the first worker's end, so that the loss of the host is the root cause. To be called before judge().
void blame_hosts_for_kills(AttemptFacts& facts);

}  // namespace sml::report
