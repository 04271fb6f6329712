// The coordinator: listens, lets the hosts of the job in, gives a byte pipe to the agent that each of them starts, and
// sends them all the outcome of the job.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/os/fd.h"
#include "launcher/dialin/messages.h"
#include "launcher/dialin/settings.h"
#include "launcher/transport/agent_launcher.h"
#include "launcher/transport/agent_transport.h"
#include "launcher/transport/background_task.h"

namespace sml::dialin {

class Coordinator;

enum class Latecomers : std::uint8_t { TurnedAway, Wait };

// Everything that makes a job's launcher the coordinator. The port is already open: hosts may call before the job
// begins.
struct CoordinatorPlan {
  Settings settings;
  os::UniqueFd listener;
  Duration heartbeat_timeout{};  // a peer that receives nothing for so long takes the coordinator for lost
  // Runs before the coordinator's own agent starts, while hosts call; outlives the job. Null: none.
  transport::PreLaunchTask* task = nullptr;
  // A coordinator that has let hosts in already (quorum.h) and owns the listener. Null: make a new one.
  std::shared_ptr<Coordinator> opened = {};
};

// One thread. A host's id is its index in Settings::hosts. The destructor closes every connection.
class Coordinator {
 public:
  struct Events {
    std::function<void(const std::string& text)> print;  // what people should know
    std::function<void()> come;                          // a host has been let in, or has called and cannot take part
    std::function<void(const std::string& host, int signo)> stop_asked;  // a host got a stop signal
    // Before set_hosts(): so many are here and wait, the head with them.
    std::function<void(std::uint32_t hosts)> gathered = {};
  };
  virtual ~Coordinator() = default;

  // Replaces the callbacks.
  virtual void serve(Events events) = 0;

  // Lets callers in from now on. Where Settings::least_hosts is given they wait until set_hosts().
  virtual void begin() = 0;
  // For a job that waits for a quorum: it has `hosts` hosts, all that are here, and the waiting peers get their places.
  // A later caller is turned away, or waits until know() while there are fewer hosts than the maximum.
  virtual void set_hosts(std::uint32_t hosts, Latecomers latecomers) = 0;
  // Valid after set_hosts(): the shares of all hosts, by place. A host that has named none has this host's.
  virtual plan::HostShares shares() const = 0;
  // The hosts that are here and not out, itself and those who have come later and wait with them, by the names that the
  // next know() is to give them.
  virtual std::vector<std::string> present() const = 0;
  // Adds the next place, with this name; the first latecomer, if there is one, gets it.
  virtual void know(const std::string& name) = 0;
  // A transport to the agent of this host, which opens with `mark`. Waits without a limit of its own for the host to
  // call. Must not outlive the coordinator.
  virtual std::unique_ptr<transport::AgentTransport> make_transport(HostId host, std::string mark) = 0;
  // The hosts that have not come in, itself apart.
  virtual std::vector<transport::AgentLauncher::Missing> missing() const = 0;
  // The hosts of missing() that cannot take part.
  virtual std::vector<transport::AgentLauncher::Missing> refused() const = 0;
  // Tells every host that is here, and lets nobody in any more. `told` is called when all have left, or after 5 s.
  virtual void end(const JobEnd& how, std::function<void()> told) = 0;
};

// `pool` looks up names. Error (Internal): the TLS library fails.
Result<std::unique_ptr<Coordinator>> make_coordinator(const boost::asio::any_io_executor& loop,
                                                      boost::asio::thread_pool& pool, CoordinatorPlan plan,
                                                      Coordinator::Events events);

}  // namespace sml::dialin
