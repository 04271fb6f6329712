// Starts the agent on each host of a job, and gives the launcher a byte pipe to it: by SSH, by a command of the user,
// by the starter of a batch system, or by waiting for hosts that call. An interface, whose implementations look for
// programs, start processes and threads, and open sockets. launcher/fleet/make_launcher.h chooses one.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/plan/machine/host.h"
#include "launcher/transport/agent_transport.h"
#include "launcher/transport/background_task.h"

namespace sml::transport {

// The job outcome, for hosts that have called and stay until they know it.
struct RunEnd {
  std::uint8_t exit_code = 0;
  std::string words;    // the outcome in words
  std::string failure;  // text for the failure file of each host, as the platform may read any of them; empty: none
};

// Used on the loop's thread only. Outlives the sessions that use it.
class AgentLauncher {
 public:
  struct Events {
    std::function<void(const std::string& text)> print;                  // prints a message for the user
    std::function<void()> come;                                          // missing() or refused() has changed
    std::function<void(const std::string& host, int signo)> stop_asked;  // a host has received a stop signal
  };
  // OfMachines: hosts whose agents turn out to run on one machine become one host. OfNames: each name stays a host of
  // its own.
  enum class Sameness : std::uint8_t { OfMachines, OfNames };
  // How an agent is started on another host.
  enum class Start : std::uint8_t {
    ByLogin,    // by SSH, in a login shell
    ByCommand,  // by a command of the user (--ssh-command)
    ByStarter,  // by the tool of a batch system
    ByHost,     // by sml-run on that host, which has called
  };

  virtual ~AgentLauncher() = default;

  // Call before anything else. Error: no host can be reached, or accepted.
  virtual Result<void> open(Events events) = 0;
  // Makes the pipe to that host's agent, which AgentTransport::start() starts. `script` is a command line for a login
  // shell of the host: it starts the agent, and has it begin its first line with `mark`. With Start::ByHost it is
  // empty, and the host gets the mark from the transport. Returns null if the host is this machine: then use
  // local_transport(). That may also come out later, by TransportEvents::transport_is_local().
  virtual std::unique_ptr<AgentTransport> transport(HostId host, const std::string& mark,
                                                    const std::string& script) = 0;
  // The same for an agent of this machine.
  virtual std::unique_ptr<AgentTransport> local_transport(const std::string& mark) = 0;
  // The task to finish before that host's agent may start; lives as long as this. Null: none.
  virtual PreLaunchTask* task_of(HostId) { return nullptr; }
  // A host that has to connect to this process, and has not been accepted so far.
  struct Missing {
    HostId host;
    std::optional<Error> why_not;  // it has called, and this is why it cannot take part; nullopt: it may still come
  };
  virtual std::vector<Missing> missing() const { return {}; }
  // The hosts of missing() that cannot take part: `why_not` is set.
  virtual std::vector<Missing> refused() const { return {}; }
  // Adds a host to the job; its HostId is the number of hosts so far.
  virtual void add_host(const plan::Host&) {}
  // Whether transport() can reach a host once more after its agent has vanished.
  virtual bool reaches_again(HostId) const { return true; }
  virtual Sameness sameness() const { return Sameness::OfMachines; }
  virtual Start start() const { return Start::ByLogin; }
  // Call after the last session has ended. Returns whether any host waits for the end of the job. If so, notifies these
  // hosts, with Start::ByHost also of the outcome `end`, and calls `done` when each of them knows or is given up; if
  // not, `done` is never called.
  [[nodiscard]] virtual bool send_end(const RunEnd& end, std::function<void()> done) = 0;
  // The last call. Does not block.
  virtual void close() {}
};

}  // namespace sml::transport
