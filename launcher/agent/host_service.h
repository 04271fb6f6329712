// What an agent offers the workers of its host for one attempt: a store where they meet, data, files for their output.
// Each is a HostService; who has the workers tells all of them the same and knows none by name. services.cc lists them.
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
#include "common/plan/worker_env.h"
#include "common/wire/messages.h"
#include "launcher/agent/local_callers.h"
#include "launcher/agent/network.h"
#include "launcher/agent/processes.h"
#include "launcher/agent/scratch_folder.h"
#include "launcher/agent/shares.h"

namespace sml::agent {

// What services get for their work. Outlives them.
struct ServiceContext {
  boost::asio::io_context& loop;
  Processes& processes;
  Network& network;
  LocalCallers& callers;
  const ScratchFolder& scratch;
  std::function<void(const wire::ToLauncher&)> tell;
  // A rank of this host has failed, whatever becomes of its process; see wire::FaultKind. Of each rank the first
  // counts. `code`: 1 to 255; `why`: a clause that follows "rank 3 on algo-1". Calls nobody.
  std::function<void(Rank rank, wire::FaultKind kind, int code, const std::string& why)> fail_rank;
  // As if a worker of this host had printed it. Lost where its output has ended, or where much waits to be taken.
  std::function<void(Rank rank, Stream stream, const std::string& text)> say_for{};
  std::uint32_t attempt = 1;             // Prepare::attempt
  std::function<bool()> output_flows{};  // what the workers print is taken; no: they may wait for room in their pipes
  std::function<void()> moved_on{};      // takes_output() or is_busy() of a service may have changed

  void warn(const std::string& sentence) const { tell(wire::AgentLog{wire::LogLevel::Warning, sentence}); }
};

// One thread: that of the loop. Called in the order in which the functions stand here; those that take a rank, and
// suspend, resume and hear, at any time from the start on. Destroyed while its loop runs on.
class HostService {
 public:
  HostService() = default;
  HostService(const HostService&) = delete;
  HostService& operator=(const HostService&) = delete;
  virtual ~HostService() = default;

  // Long before the start, which may never come. What the launcher is to know is added to `answer`. The error says why
  // no worker can be started.
  virtual Result<void> check(wire::Prepared& answer) = 0;
  // Workers of other hosts may come from now on; those of this one may still wait for what --preload imports.
  virtual void others_start(const wire::Start&) {}
  // Just before the first worker is started. What fails now is told to the launcher.
  virtual void start(const wire::Start&) {}
  // Those that a worker is to get; others outrank the plan's.
  virtual plan::Environment variables(Rank) const { return {}; }
  // What a worker is to get beside its standard streams. Its end of a socket, mostly, of which the service keeps the
  // other; closed here once the worker runs. Once for each rank, after start(). Error: it cannot be had, and the worker
  // is not started.
  struct OwnDescriptor {
    std::string variable;  // tells the worker the number, "PMI_FD"
    os::UniqueFd descriptor;
  };
  virtual Result<std::vector<OwnDescriptor>> descriptors(Rank) { return std::vector<OwnDescriptor>(); }
  // Whether it has found the others by this service, so that its MPI does not run alone.
  virtual bool has_joined(Rank) const { return false; }
  virtual bool has_ever_joined(Rank) const { return false; }
  virtual std::size_t ever_joined() const { return 0; }  // ranks of this host that have at any time
  // It runs as this process.
  virtual void worker_started(Rank, pid_t) {}
  // Its process has ended, by whatever cause.
  virtual void worker_ended(Rank, const ExitStatus&) {}
  // No worker is left, or all are being killed. May come again.
  virtual void end() {}
  // What has only been counted so far is told.
  virtual void sum_up() {}

  virtual void suspend() {}  // the workers stand still, and their silence means nothing
  virtual void resume() {}
  // Whatever the launcher says that is for services; most of it is for another.
  virtual void hear(const wire::ToAgent&) {}
  // Further workers may come, of which a StartAdded tells; `shares` has each of theirs, in order. True: it will bring
  // them together, if they do, and calls `ready` once, with a clause where it cannot after all.
  using WorldReady = std::function<void(const std::string& why)>;
  virtual bool add_world(const wire::AddWorkers&, std::span<const WorkerShare>, const WorldReady&) { return false; }
  // A child of the agent has ended that is no worker. True: it was this service's.
  virtual bool process_ended(pid_t, const ExitStatus&) { return false; }

  // Workers' output is to come to output(), too, before it goes to the launcher. Asked once, after check().
  virtual bool reads_output() const { return false; }
  virtual void output(Rank, Stream, std::string_view) {}
  // No: more of it stays in the workers' pipes.
  virtual bool takes_output() const { return true; }
  // The launcher may have to hear of it before it is told that nothing is left.
  virtual bool is_busy() const { return false; }
  // Those who have come to it, where that means that they have joined the others.
  struct Joiners {
    std::uint64_t count = 0;
    TimePoint first;
  };
  virtual std::optional<Joiners> joiners() const { return std::nullopt; }
};

}  // namespace sml::agent
