// How the agent on each host of a job is started, and how the launcher gets a byte pipe to it.
// fleet/make_launcher.cc has the table of the implementations.
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

// The job outcome, for hosts that wait for it.
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
  // When two hosts of the list count as the same host: if they are one machine, or only if they have the same name.
  enum class Sameness : std::uint8_t { OfMachines, OfNames };
  // How the agent is started: by this process in a login shell that it opens itself (ByLogin) or by a command
  // (ByCommand), by a batch system's starter, or by the host itself.
  enum class Start : std::uint8_t { ByLogin, ByCommand, ByStarter, ByHost };

  virtual ~AgentLauncher() = default;

  // Call before anything else. Error: no host can be reached, or accepted.
  virtual Result<void> open(Events events) = 0;
  // Makes the pipe to that host's agent; the owner calls start() on it. The agent's first line begins with `mark`.
  // `script` is a command line for a login shell of the host, which starts the agent; empty where the host starts it.
  // Returns null if the host is this machine: then use local_transport().
  virtual std::unique_ptr<AgentTransport> transport(HostId host, const std::string& mark,
                                                    const std::string& script) = 0;
  // Makes the pipe to an agent of this machine.
  virtual std::unique_ptr<AgentTransport> local_transport(const std::string& mark) = 0;
  // The task to finish before that host's agent may start; null: none.
  virtual PreLaunchTask* task_of(HostId) { return nullptr; }
  // A host that is to call, and has not been accepted so far.
  struct Missing {
    HostId host;
    std::optional<Error> why_not;  // why it has called and cannot take part; nullopt: it may still come
  };
  virtual std::vector<Missing> missing() const { return {}; }
  // The hosts of missing() that cannot take part: `why_not` is set.
  virtual std::vector<Missing> refused() const { return {}; }
  // Adds a host to the job; it has the next id.
  virtual void add_host(const plan::Host&) {}
  // Whether transport() can reach a host once more after its agent has vanished.
  virtual bool reaches_again(HostId) const { return true; }
  virtual Sameness sameness() const { return Sameness::OfMachines; }
  virtual Start start() const { return Start::ByLogin; }
  // Call after the last session has ended. Sends `end` to the hosts that wait for it, and returns true; `done` is
  // called once each of them has received it, or is given up. Returns false if no host waits; `done` is not called
  // then.
  [[nodiscard]] virtual bool send_end(const RunEnd& end, std::function<void()> done) = 0;
  // The last call. Does not block.
  virtual void close() {}
};

}  // namespace sml::transport
