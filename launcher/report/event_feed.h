// What happens to a job, as typed values in one stream: the events file, the timeline and the status line listen to it.
//
// Events come in the order in which the launcher hears of them. `Event::at` is when each happened, on the launcher's
// clock: news from other hosts is older than its neighbours. One thread.
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

// First of all; once more, when the hosts have turned out to be fewer machines. The plan outlives the first attempt.
struct JobBegins {
  const plan::LaunchPlan* plan = nullptr;
  double unix_time = 0;  // wall clock, seconds
};
// What a host is waited for now: "connecting", "sending the agent"; for people.
struct HostStep {
  HostIndex host;
  std::string step;
};
enum class HostPlace : std::uint8_t { ThisMachine, Remote };
// Its agent runs.
struct HostConnected {
  HostIndex host;
  HostPlace place = HostPlace::Remote;
  std::string address;  // of the connection's far end; empty when there is none
  std::int32_t agent_pid = 0;
};
// It can start its workers.
struct HostReady {
  HostIndex host;
};
// It could not be reached or prepared, or was lost.
struct HostFailed {
  HostIndex host;
  Error why;
};
// Attempts have failed on it: the next ones do without it.
struct HostExcluded {
  HostIndex host;
  std::uint32_t failures = 0;
};
// The list of hosts has changed (--host-discovery-script, --watch-hosts): hosts by name, with or without ranks.
struct HostListChanged {
  std::vector<std::string> come;       // for the first time
  std::vector<std::string> back;       // again
  std::vector<std::string> withdrawn;  // listed no more
};
// How much of it is in use, its workers and all others taken together.
struct HostInUse {
  HostIndex host;
  HostUse use;
};
// Nothing of the job is left there.
struct HostEnded {
  HostIndex host;
};
// All hosts are ready and are told to start their workers.
struct WorkersStart {
  std::string master_address;
  std::uint16_t master_port = 0;
};
struct RankStarted {
  Rank rank;
  std::int32_t pid = 0;
};
// There are ranks beside those that run, those from `first` on: one of these has asked for them (MPI_Comm_spawn), or
// hosts have joined (hvd.elastic). `plan` is that of the attempt, which has them now, and their hosts.
struct RanksAdded {
  const plan::LaunchPlan* plan = nullptr;
  std::optional<Rank> asked_by;
  Rank first;
};
struct RankOutput {
  Rank rank;
  Stream stream = Stream::Stdout;
  std::size_t bytes = 0;
};
enum class Ending : std::uint8_t { ByItself, Stopped };  // Stopped: after we had begun to end it
struct RankExited {
  Rank rank;
  ExitStatus status;
  Ending ending = Ending::ByItself;
  Usage usage{};
};
// No more output of it follows.
struct RankDrained {
  Rank rank;
};
enum class SignalUse : std::uint8_t { StopsJob, PassedOn, SuspendsJob, PrintsStatus };
// Came to the launcher.
struct SignalCame {
  int signo = 0;
  SignalUse use = SignalUse::PassedOn;
};
enum class StopCause : std::uint8_t { WorkerFailed, HostFailed, Signal, TimeLimit, OutputGone, Launcher, NoProgress };
// The workers are being ended. Once in each attempt.
struct JobStops {
  StopCause cause = StopCause::WorkerFailed;
};
// The last that a rank has written to its stderr.
struct LastWords {
  Rank rank;
  std::vector<std::string> lines;
};
// This attempt has failed, nothing of it is left, and another follows.
struct AttemptFails {
  std::uint32_t attempt = 1;
  int exit_code = 0;
  std::string verdict;  // in words
  std::optional<Rank> culprit;
  Duration restarts_in{};
};
// The second or a later one: what was known of ranks was of the one before. The plan outlives it.
struct AttemptBegins {
  std::uint32_t attempt = 1;
  const plan::LaunchPlan* plan = nullptr;
};
// Last of all.
struct JobEnds {
  int exit_code = 0;
  std::string verdict;  // in words
  std::optional<Rank> culprit;
  std::vector<LastWords> last_words{};  // of those that failed
  std::uint32_t attempts = 1;
  std::string no_restart{};  // why no other followed; empty: that needs no word
};

using Happening = std::variant<JobBegins, HostStep, HostConnected, HostReady, HostFailed, HostExcluded, HostListChanged,
                               HostInUse, HostEnded, WorkersStart, RankStarted, RanksAdded, RankOutput, RankExited,
                               RankDrained, SignalCame, JobStops, AttemptFails, AttemptBegins, JobEnds>;

struct Event {
  TimePoint at;
  Happening what;
};

class EventListener {
 public:
  virtual ~EventListener() = default;
  // Throws nothing, blocks for nothing but the disk, tells the feed nothing from within.
  virtual void on_event(const Event& event) = 0;
};

class EventFeed {
 public:
  // `listener` outlives the feed's last event.
  void add(EventListener& listener) { listeners_.push_back(&listener); }
  void tell(Happening what, TimePoint at = Clock::now()) const {
    if (listeners_.empty()) return;
    const Event event{at, std::move(what)};
    for (EventListener* listener : listeners_) listener->on_event(event);
  }

 private:
  std::vector<EventListener*> listeners_;
};

}  // namespace sml::report
