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
#include "launcher/report/live/line_watch.h"
#include "launcher/report/outcome/error_file.h"

namespace sml::report {

inline constexpr int kNoProgressExit = 123;
inline constexpr int kTimedOutExit = 124;

// A rank that has lost a peer gives way to another that fails by itself within this time.
inline constexpr Duration kRootCauseWindow = std::chrono::seconds(1);

// All facts that the outcome depends on, collected while the job runs. Times are on the launcher's clock.
struct AttemptFacts {
  struct WorkerEnd {
    Rank rank;
    std::string host;
    std::int32_t pid = -1;
    ExitStatus status;
    bool by_itself = true;  // false: after the launcher had begun to stop it
    TimePoint at;
    WorkerError error;                    // its own report of the error
    std::vector<std::string> last_lines;  // of its stderr
    std::string out_of_memory;            // evidence; empty: none
    std::string program{};                // argv[0], where the job has several
    std::string fault{};                  // what it did, as a clause, where `status` is not the end of its process
    bool aborted = false;                 // ... which was to ask for the end of the job
    bool keeps_lines = false;             // its C library may have kept what it printed last
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
  std::vector<WorkerEnd> ends;  // failures only
  std::vector<HostFault> faults;
  std::vector<HostFault> lost_in_stop;  // hosts whose agent was lost while the workers were being stopped
  std::optional<int> stop_signal;       // the first stop signal of the user
  TimePoint stop_at;
  bool stopped_at_rest = false;        // the signal came when this attempt was over and another was to follow
  std::optional<TimePoint> regroups;   // when it was ended so that other hosts get workers
  std::optional<TimePoint> timed_out;  // when the time of --timeout was over
  std::optional<Duration> waited_out;  // time since the first start, if the limit passed while no worker ran
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
  std::optional<Stalled> stalled;        // set if --watch or --on-silent ended it
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
  Regroup  // nothing has failed; if no other attempt follows it is the loss of a host
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

// The first failure by time that nobody asked for decides: a worker's own end, a host's fault, the user's signal, ranks
// that make no progress, a fault of the launcher, the time limit, a regroup. Lost output has no time: it decides only
// where nothing else does.
//
// Two rules move a worker's end before an earlier one. A death by SIGKILL, SIGSEGV, SIGBUS or SIGILL within a second
// after an exit with 1 or an abort, or by SIGABRT within a fifth of one: such a process is slow to end (memory to free,
// a core to write), while its peers see at once that it has gone. And, if the first has only words of a rank that has
// lost its peer (causes.h): another that ended by itself within a second of it and has words of its own, or that ended
// in any way before the first called for an abort.
//
// Faults of the same kind and words fold into one line that names all their hosts, in host order. `facts` outlive the
// result.
JobOutcome judge(const AttemptFacts& facts);

// Whether it ended as a rank that has lost a peer, which then is the cause if it fails by itself within
// kRootCauseWindow.
bool is_consequence(const AttemptFacts::WorkerEnd& end);

// Whether it was killed, and nothing shows by whom. The kernel's killer is counted in a rank's cgroup only where there
// is one.
bool was_killed_by_others(const AttemptFacts::WorkerEnd& end);

// A kill of all processes of a host may reach a worker before the agent, which then still reports that end. If the root
// cause is such a worker, and its host was lost afterwards, adds the hosts of `lost_in_stop` to `faults`, just before
// the worker's end, so that they decide.
void blame_hosts_for_kills(AttemptFacts& facts);

}  // namespace sml::report
