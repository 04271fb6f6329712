// How an agent gets to the hosts of a run, and the bytes between it and us. There is one for each way: SSH
// (ssh/ssh_reach.h), a command that the user names (command_reach.h), hosts that call (dialin/call_reach.h).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/plan/host.h"
#include "launcher/launch/agent_transport.h"
#include "launcher/launch/preparation.h"

namespace sml::launch {

// How a run has ended, for hosts that wait to hear it.
struct RunEnd {
  std::uint8_t exit_code = 0;
  std::string words;
  std::string failure;            // for the platform of the host that decided
  std::optional<HostId> culprit;  // that host
};

// One thread, the loop's. Outlives the sessions that use it.
class Reach {
 public:
  struct Events {
    std::function<void(const std::string& text)> say;                    // what people should know
    std::function<void()> come;                                          // a host that was missing is here
    std::function<void(const std::string& host, int signo)> stop_asked;  // a host has been told to stop
  };
  // What tells two hosts apart: the machines that they are, or that the user names them twice.
  enum class Sameness : std::uint8_t { OfMachines, OfNames };
  // Who starts the agent there: a login shell that we have, one that a command gets us, or the host itself.
  enum class Start : std::uint8_t { ByLogin, ByCommand, ByHost };

  virtual ~Reach() = default;

  // Before anything else. Error (Internal): no host can be let in.
  virtual Result<void> open(Events events) = 0;
  // The pipe to that host's agent. `mark` opens what the agent says; `script` is a command line for a login shell there
  // that starts it. Null: the host is this machine, see local_transport().
  virtual std::unique_ptr<AgentTransport> transport(HostId host, const std::string& mark,
                                                    const std::string& script) = 0;
  // The pipe to an agent of this machine.
  virtual std::unique_ptr<AgentTransport> local_transport(const std::string& mark) = 0;
  // What has to be done before that host's agent may start; null: nothing.
  virtual Chore* chore_of(HostId) { return nullptr; }
  // Hosts that are to come by themselves, and have not come in.
  struct Missing {
    HostId host;
    std::optional<Error> why_not;  // it has called, and cannot take part; nothing: it may come yet
  };
  virtual std::vector<Missing> missing() const { return {}; }
  // A host that has come since, of the next id.
  virtual void know(const plan::Host&) {}
  // Whether a host can be reached once more when its agent has vanished.
  virtual bool reaches_again(HostId) const { return true; }
  virtual Sameness sameness() const { return Sameness::OfMachines; }
  virtual Start start() const { return Start::ByLogin; }
  // After the last session. True: hosts are being told, and `told` is called when they have heard it, or will not.
  // False: nobody waits for that.
  [[nodiscard]] virtual bool tell_end(const RunEnd& end, std::function<void()> told) = 0;
  // Last call. Waits for nothing.
  virtual void close() {}
};

}  // namespace sml::launch
