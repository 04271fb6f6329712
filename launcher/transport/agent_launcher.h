// How the agent on each host of a run is started, and how its byte pipe is made. Implementations: SSH
// (ssh/ssh_launcher.h), a command that the user names (command_launcher.h), a batch system's starter
// (starter_launcher.h), hosts that call (dialin/incoming_launcher.h).
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

// How a run has ended, for hosts that wait for it.
struct RunEnd {
  std::uint8_t exit_code = 0;
  std::string words;
  std::string failure;  // failure text for the platform, which may look at any host
};

// Runs on the loop's thread only. Outlives the sessions that use it.
class AgentLauncher {
 public:
  struct Events {
    std::function<void(const std::string& text)> print;                  // prints a message for the user
    std::function<void()> come;                                          // a missing host has arrived
    std::function<void(const std::string& host, int signo)> stop_asked;  // a host has received a stop signal
  };
  // Whether two hosts count as the same if they are one machine, or only if the user names them twice.
  enum class Sameness : std::uint8_t { OfMachines, OfNames };
  // The agent is started by a log-in shell of this process, by one that a command opens, by a batch system's starter,
  // or by the host itself.
  enum class Start : std::uint8_t { ByLogin, ByCommand, ByStarter, ByHost };

  virtual ~AgentLauncher() = default;

  // Call before anything else. Error (Internal): no host can be accepted.
  virtual Result<void> open(Events events) = 0;
  // The pipe to that host's agent. The agent's output begins with `mark`; `script` is a command line for a login shell
  // there that starts it; empty where the host starts it. Null: the host is this machine, see local_transport().
  virtual std::unique_ptr<AgentTransport> transport(HostId host, const std::string& mark,
                                                    const std::string& script) = 0;
  // The pipe to an agent of this machine.
  virtual std::unique_ptr<AgentTransport> local_transport(const std::string& mark) = 0;
  // The task to finish before that host's agent may start; null: none.
  virtual PreLaunchTask* task_of(HostId) { return nullptr; }
  // Hosts that are to come by themselves, and have not come in.
  struct Missing {
    HostId host;
    std::optional<Error> why_not;  // it has called, and cannot take part; nothing: it may come yet
  };
  virtual std::vector<Missing> missing() const { return {}; }
  // The hosts of missing() that cannot take part.
  virtual std::vector<Missing> refused() const { return {}; }
  // A host that has come since, of the next id.
  virtual void know(const plan::Host&) {}
  // Whether a host can be reached again if its agent has vanished.
  virtual bool reaches_again(HostId) const { return true; }
  virtual Sameness sameness() const { return Sameness::OfMachines; }
  virtual Start start() const { return Start::ByLogin; }
  // Call after the last session. Returns true if hosts are being notified; `told` is called when they have received it,
  // or will not. Returns false if no host waits for that.
  [[nodiscard]] virtual bool tell_end(const RunEnd& end, std::function<void()> told) = 0;
  // The last call. Does not block.
  virtual void close() {}
};

}  // namespace sml::transport
