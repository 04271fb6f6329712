// The events of a job, as typed values in one stream; the events file, the timeline and the status line subscribe to
// it.
//
// Events come in the order in which the launcher learns of them. `Event::at` is when each happened, on the launcher's
// clock. The launcher learns of events on other hosts late, so their times may be before that of the preceding event.
// Used on the loop's thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/exit_status.h"
#include "common/core/stream.h"
#include "common/core/strong.h"
#include "common/core/usage.h"
#include "common/plan/launch_plan.h"

namespace sml::report {

// The first event. Published once more, with a new plan, if several hosts turn out to be one machine. The plan stays
// valid until the first attempt is over.
struct JobBegins {
  const plan::LaunchPlan* plan = nullptr;
  double unix_time = 0;  // wall clock, seconds
};
// The current step of a host that is being connected or prepared: "connecting", "sending the agent"; for the user.
struct HostStep {
  HostId host;
  std::string step;
};
enum class HostPlace : std::uint8_t { ThisMachine, Remote };
// The host's agent runs.
struct HostConnected {
  HostId host;
  HostPlace place = HostPlace::Remote;
  std::string address;  // of the connection's far end; empty if there is none
  std::int32_t agent_pid = 0;
};
// The host can start its workers.
struct HostReady {
  HostId host;
};
// The host could not be connected to, could not be prepared, or was lost.
struct HostFailed {
  HostId host;
  Error why;
};
// Attempts have failed on the host: later ones run without it.
struct HostExcluded {
  HostId host;
  std::uint32_t failures = 0;
};
// The list of hosts has changed (--host-discovery-script, --watch-hosts). Names of hosts, with or without ranks.
struct HostListChanged {
  std::vector<std::string> come;       // listed for the first time
  std::vector<std::string> back;       // listed again
  std::vector<std::string> withdrawn;  // no longer listed
};
// Current resource usage of the host, by its workers and all other processes together.
struct HostInUse {
  HostId host;
  HostUse use;
};
// No process of the job is left on the host.
struct HostEnded {
  HostId host;
};
// All hosts are ready, and receive the request to start their workers.
struct WorkersStart {
  std::string master_address;
  std::uint16_t master_port = 0;
};
struct RankStarted {
  Rank rank;
  std::int32_t pid = 0;
};
// All ranks of the host have come to their first MPI fence with the ranks of other hosts.
struct HostAtFence {
  HostId host;
};
// All ranks of the job have joined: in that fence, or in the torch store that the agent serves.
struct RanksMet {};
// Ranks from `first` on have been added to those that run: one of these has requested them (MPI_Comm_spawn), or hosts
// have joined (hvd.elastic). `plan` is that of the attempt, with the new ranks and their hosts.
struct RanksAdded {
  const plan::LaunchPlan* plan = nullptr;
  std::optional<Rank> asked_by;  // nullopt: hosts have joined
  Rank first;
};
struct RankOutput {
  Rank rank;
  Stream stream = Stream::Stdout;
  std::size_t bytes = 0;
};
enum class Ending : std::uint8_t { ByItself, Stopped };  // Stopped: it ended after the launcher had begun to end it
struct RankExited {
  Rank rank;
  ExitStatus status;
  Ending ending = Ending::ByItself;
  Usage usage{};
};
// No more output of the rank follows.
struct RankDrained {
  Rank rank;
};
enum class SignalUse : std::uint8_t { StopsJob, PassedOn, SuspendsJob, PrintsStatus };
// The launcher has received a signal that it acts on, or `sml-run signal` has sent one to workers.
struct SignalCame {
  int signo = 0;
  SignalUse use = SignalUse::PassedOn;
};
enum class StopCause : std::uint8_t { WorkerFailed, HostFailed, Signal, TimeLimit, OutputGone, Launcher, NoProgress };
// The launcher begins to end the workers. At most once in each attempt; not if they all end by themselves.
struct JobStopping {
  StopCause cause = StopCause::WorkerFailed;
};
// The last lines that a rank wrote to its stderr.
struct RankLastLines {
  Rank rank;
  std::vector<std::string> lines;
};
// This attempt has failed, no process of it is left, and another follows.
struct AttemptFails {
  std::uint32_t attempt = 1;
  int exit_code = 0;
  std::string verdict;  // the outcome in words
  std::optional<Rank> root_cause{};
  Duration restarts_in{};
};
// A second or later attempt begins: states of ranks from before belong to the last attempt. The plan stays valid until
// this attempt is over.
struct AttemptBegins {
  std::uint32_t attempt = 1;
  const plan::LaunchPlan* plan = nullptr;
};
// The last event.
struct JobEnds {
  int exit_code = 0;
  std::string verdict;  // the outcome in words
  std::optional<Rank> root_cause{};
  std::vector<RankLastLines> last_lines{};  // of ranks that failed
  std::uint32_t attempts = 1;
  std::string no_restart{};  // why no other attempt followed, as a part of a sentence; empty if that is evident
};

using EventPayload =
    std::variant<JobBegins, HostStep, HostConnected, HostReady, HostFailed, HostExcluded, HostListChanged, HostInUse,
                 HostEnded, WorkersStart, RankStarted, HostAtFence, RanksMet, RanksAdded, RankOutput, RankExited,
                 RankDrained, SignalCame, JobStopping, AttemptFails, AttemptBegins, JobEnds>;

struct Event {
  TimePoint at;
  EventPayload what;
};

class EventListener {
 public:
  virtual ~EventListener() = default;
  // Must not throw, must not block except on disk writes, and must not publish events to the feed.
  virtual void on_event(const Event& event) = 0;
};

class EventFeed {
 public:
  // `listener` must live until the last event has been published.
  void add(EventListener& listener) { listeners_.push_back(&listener); }
  void publish(EventPayload what, TimePoint at = Clock::now()) const {
    if (listeners_.empty()) return;
    const Event event{at, std::move(what)};
    for (EventListener* listener : listeners_) listener->on_event(event);
  }

 private:
  std::vector<EventListener*> listeners_;
};

}  // namespace sml::report
