// The interface of what an agent offers to the workers of its host for one attempt, such as a store, data or files for
// their output. HostAttempt calls all services alike and knows none by name; workers/services.h makes them.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/exit_status.h"
#include "common/os/fd.h"
#include "common/plan/environment/worker_env.h"
#include "common/wire/messages.h"
#include "launcher/agent/core/host_system.h"
#include "launcher/agent/core/local_connection_check.h"
#include "launcher/agent/core/resource_assignment.h"

namespace sml::agent {

// The attempt that a service belongs to, as the service knows it.
class ServiceOwner {
 public:
  virtual ~ServiceOwner() = default;

  virtual void send(const wire::ToLauncher& message) = 0;
  // Reports that a rank of this host has failed, whatever happens to its process; see wire::FaultKind. Only the first
  // report of each rank counts. `code`, 1 to 255, is the exit status for the job; `why` is a part of a sentence that
  // follows "rank 3 on algo-1". Calls no service.
  virtual void fail_rank(Rank rank, wire::FaultKind kind, int code, const std::string& why) = 0;
  // Adds text to a worker's output, as if the worker had printed it; see Worker::print(). The text is lost if that
  // output has ended, or if too much of such text waits to be sent.
  virtual void say_for(Rank rank, Stream stream, const std::string& text) = 0;
  // True if the agent reads the workers' output now. False: workers may be blocked because their pipes are full.
  virtual bool output_flows() const = 0;
  // A service must call this when its takes_output() or is_busy() may have changed.
  virtual void moved_on() = 0;
};

// Objects that services use. The context outlives the services.
struct ServiceContext {
  const HostSystem& system;
  LocalConnectionCheck& callers;
  ServiceOwner& owner;
  std::uint32_t attempt = 1;  // Prepare::attempt

  void send(const wire::ToLauncher& message) const { owner.send(message); }
  // Sends the launcher a warning for the user.
  void warn(const std::string& sentence) const { send(wire::AgentLog{wire::LogLevel::Warning, sentence}); }
};

// One thread: that of the loop. check() is called first; then others_start(), start(), end() and sum_up() are called in
// this order, though some of these calls may never come. The other functions may be called at any time after check(). A
// service is destroyed while its loop still runs.
class HostService {
 public:
  HostService() = default;
  HostService(const HostService&) = delete;
  HostService& operator=(const HostService&) = delete;
  virtual ~HostService() = default;

  // Called long before the start, which may never come. Adds what the launcher must know to `answer`. An error is a
  // preflight error: no worker can be started.
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
  // True if the rank, which is running, has found the other ranks by this service, so that its MPI does not run alone.
  virtual bool has_joined(Rank) const { return false; }
  // True if the rank has done so at any time; for a rank that has ended.
  virtual bool has_ever_joined(Rank) const { return false; }
  // The number of ranks of this host for which has_ever_joined() is true.
  virtual std::size_t ever_joined() const { return 0; }
  // The worker has been started as this process.
  virtual void worker_started(Rank, pid_t) {}
  // The worker's process has ended, for whatever reason.
  virtual void worker_ended(Rank, const ExitStatus&) {}
  // No worker is left, or all are being killed. May be called more than once.
  virtual void end() {}
  // Called before the attempt is discarded: sends the launcher what the service has only counted so far.
  virtual void sum_up() {}

  // The workers have been stopped by SIGSTOP, so their silence is no sign of a failure; resume() follows.
  virtual void suspend() {}
  virtual void resume() {}
  // Receives every message of the launcher for services except AddWorkers (see add_world()), also messages for other
  // services, which it ignores.
  virtual void handle(const wire::ToAgent&) {}
  // More workers may be added; a later StartAdded message starts or cancels them. The second parameter has the
  // assignments of these workers, in their order. Returns true if this service will connect them. It then calls `ready`
  // once, perhaps from within this call: `why` is empty, or a part of a sentence if the service cannot connect them
  // after all.
  using WorldReady = std::function<void(const std::string& why)>;
  virtual bool add_world(const wire::AddWorkers&, std::span<const ResourceAssignment>, const WorldReady&) {
    return false;
  }
  // A child of the agent that is no worker has ended. Returns true if it belongs to this service; the other services
  // are then not asked.
  virtual bool process_ended(pid_t, const ExitStatus&) { return false; }

  // True if output() must get the workers' output before it is sent to the launcher. Called once, after check().
  virtual bool reads_output() const { return false; }
  // Gets stdout and stderr; never the results (Stream::Results).
  virtual void output(Rank, Stream, std::string_view) {}
  // While false, further output stays in the workers' pipes.
  virtual bool takes_output() const { return true; }
  // True while the service may still have a message for the launcher that must precede the report that nothing is left.
  virtual bool is_busy() const { return false; }
  // The ranks of the job that have connected, for a service where this means that they have joined the others.
  struct Joiners {
    std::uint64_t count = 0;
    TimePoint first;  // when the first of them connected
  };
  // nullopt: no rank has connected yet, or this is no such service.
  virtual std::optional<Joiners> joiners() const { return std::nullopt; }
};

}  // namespace sml::agent
