// The interface of what an agent offers to the workers of its host for one attempt, such as a store, data or files for
// their output. HostAttempt calls all services alike and knows none by name. services.cc lists them.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <boost/asio/io_context.hpp>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/exit_status.h"
#include "common/os/fd.h"
#include "common/plan/environment/worker_env.h"
#include "common/wire/messages.h"
#include "launcher/agent/core/local_callers.h"
#include "launcher/agent/core/network.h"
#include "launcher/agent/core/processes.h"
#include "launcher/agent/core/resource_assignment.h"
#include "launcher/agent/core/scratch_folder.h"

namespace sml::agent {

// Objects and callbacks that services use. It outlives them.
struct ServiceContext {
  boost::asio::io_context& loop;
  Processes& processes;
  Network& network;
  LocalCallers& callers;
  const ScratchFolder& scratch;
  std::function<void(const wire::ToLauncher&)> send;
  // Reports that a rank of this host has failed, whatever happens to its process; see wire::FaultKind. Only the first
  // report of each rank counts. `code` is 1 to 255; `why` is a clause that follows "rank 3 on algo-1". Calls no
  // service.
  std::function<void(Rank rank, wire::FaultKind kind, int code, const std::string& why)> fail_rank;
  // As if a worker of this host had printed it. Lost where its output has ended, or where much waits to be taken.
  std::function<void(Rank rank, Stream stream, const std::string& text)> say_for{};
  std::uint32_t attempt = 1;             // Prepare::attempt
  std::function<bool()> output_flows{};  // what the workers print is taken; no: they may wait for room in their pipes
  std::function<void()> moved_on{};      // takes_output() or is_busy() of a service may have changed

  void warn(const std::string& sentence) const { send(wire::AgentLog{wire::LogLevel::Warning, sentence}); }
};

// One thread: that of the loop. The functions are called in the order in which they stand here, except those that take
// a rank, and suspend, resume and hear, which may be called at any time from the start on. Destroyed while its loop
// still runs.
class HostService {
 public:
  HostService() = default;
  HostService(const HostService&) = delete;
  HostService& operator=(const HostService&) = delete;
  virtual ~HostService() = default;

  // Called long before the start, which may never come. Adds what the launcher must know to `answer`. An error is the
  // reason why no worker can be started.
  virtual Result<void> check(wire::Prepared& answer) = 0;
  // Workers of other hosts may connect from now on; those of this host may still wait for the imports of --preload.
  virtual void others_start(const wire::Start&) {}
  // Called just before the first worker is started. A service reports a later failure to the launcher by itself.
  virtual void start(const wire::Start&) {}
  // Variables for a worker; they override those of the plan.
  virtual plan::Environment variables(Rank) const { return {}; }
  // Descriptors that a worker gets beside its standard streams, mostly one end of a socket whose other end the service
  // keeps. They are closed in this process once the worker runs. Called once for each rank, after start(). Error: a
  // descriptor cannot be made, and the worker is not started.
  struct OwnDescriptor {
    std::string variable;  // the variable that holds the descriptor's number, such as "PMI_FD"
    os::UniqueFd descriptor;
  };
  virtual Result<std::vector<OwnDescriptor>> descriptors(Rank) { return std::vector<OwnDescriptor>(); }
  // True if the rank has found the other ranks by this service, so that its MPI does not run alone.
  virtual bool has_joined(Rank) const { return false; }
  virtual bool has_ever_joined(Rank) const { return false; }
  virtual std::size_t ever_joined() const { return 0; }  // the number of ranks of this host that have at any time
  // The worker runs as this process.
  virtual void worker_started(Rank, pid_t) {}
  // The worker's process has ended, for whatever reason.
  virtual void worker_ended(Rank, const ExitStatus&) {}
  // No worker is left, or all are being killed. May be called more than once.
  virtual void end() {}
  // Sends what has only been counted so far.
  virtual void sum_up() {}

  virtual void suspend() {}  // the workers are stopped, and their silence means nothing
  virtual void resume() {}
  // Receives every message of the launcher that is for services; most are for another service.
  virtual void handle(const wire::ToAgent&) {}
  // More workers may be added; a StartAdded message tells if they are. `shares` has the assignment of each, in order.
  // Returns true if this service will connect them, and then calls `ready` once, with a clause if it cannot after all.
  using WorldReady = std::function<void(const std::string& why)>;
  virtual bool add_world(const wire::AddWorkers&, std::span<const ResourceAssignment>, const WorldReady&) {
    return false;
  }
  // A child of the agent that is no worker has ended. Returns true if it belongs to this service.
  virtual bool process_ended(pid_t, const ExitStatus&) { return false; }

  // True if output() must get the workers' output before it is sent to the launcher. Asked once, after check().
  virtual bool reads_output() const { return false; }
  virtual void output(Rank, Stream, std::string_view) {}
  // While false, further output stays in the workers' pipes.
  virtual bool takes_output() const { return true; }
  // True while the service may still have a message for the launcher that must precede the report that nothing is left.
  virtual bool is_busy() const { return false; }
  // The number of ranks that have connected, for services where that means that they have joined the others.
  struct Joiners {
    std::uint64_t count = 0;
    TimePoint first;
  };
  virtual std::optional<Joiners> joiners() const { return std::nullopt; }
};

}  // namespace sml::agent
