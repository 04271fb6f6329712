// The coordinator: listens, lets the hosts of the job in, provides a transport to the agent that each of them starts,
// and sends all of them the outcome of the job.
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

// Treatment of a host that calls after the job's number of hosts is settled: the coordinator refuses the host, or lets
// it wait for a place that add_place() adds.
enum class Latecomers : std::uint8_t { TurnedAway, Wait };

// Everything that makes a job's launcher the coordinator. The port is already open: hosts may call before the job
// begins.
struct CoordinatorPlan {
  Settings settings;
  os::UniqueFd listener;
  // A peer that receives nothing for so long takes the coordinator for lost. It is also the longest time for which the
  // coordinator waits for a peer to reconnect.
  Duration heartbeat_timeout{};
  // Runs before the agent on the coordinator's own host starts, while hosts call; outlives the job. Null: none.
  transport::PreLaunchTask* task = nullptr;
  // A coordinator that has let hosts in already (quorum.h) and owns the listener; `listener` is empty then. Null: make
  // a new one.
  std::shared_ptr<Coordinator> opened = {};
};

// All calls and callbacks are on the loop's thread. A host's HostId is its place: its index in Settings::hosts. The
// destructor closes every connection.
class Coordinator {
 public:
  struct Events {
    std::function<void(const std::string& text)> print;  // prints a message for people
    std::function<void()> come;  // a host has been let in, or has called and cannot take part: see refused()
    std::function<void(const std::string& host, int signo)> stop_asked;  // a host has received a stop signal
    // Called only before set_hosts(), when the number changes: so many hosts are here and wait, the coordinator's own
    // included. If a host calls that cannot take part, and the job cannot begin without it, the number is
    // Settings::least_hosts, so that this host need not wait for the others to learn the outcome.
    std::function<void(std::uint32_t hosts)> gathered = {};
  };
  virtual ~Coordinator() = default;

  // Replaces all callbacks.
  virtual void serve(Events events) = 0;

  // Lets callers in from now on. If Settings::least_hosts is set, they wait without a place until set_hosts().
  virtual void begin() = 0;
  // For a job that waits for a quorum: settles that it has `hosts` hosts, all that are here, and gives the waiting
  // peers their places. A later caller is refused; with Latecomers::Wait it waits for add_place() instead, as long as
  // there are fewer hosts than the maximum.
  virtual void set_hosts(std::uint32_t hosts, Latecomers latecomers) = 0;
  // Valid after set_hosts(): the shares of all hosts, by place. A place for which no host has named a share has this
  // host's. Empty if Settings::share is not set: all hosts are alike.
  virtual plan::HostShares shares() const = 0;
  // The names of the hosts that are here: this one, the peers with a place whose sessions have not ended, and the
  // latecomers that wait. A latecomer has the name that the caller is to pass to add_place() for it.
  virtual std::vector<std::string> present() const = 0;
  // Adds the next place, with this name; the first latecomer, if there is one, gets it.
  virtual void add_place(const std::string& name) = 0;
  // A transport to the agent of this host. The agent's output begins with `mark`. The transport waits for the host to
  // call, without a time limit of its own. It must not outlive the coordinator.
  virtual std::unique_ptr<transport::AgentTransport> make_transport(HostId host, std::string mark) = 0;
  // The other hosts that have not been let in and do not wait for a place.
  virtual std::vector<transport::AgentLauncher::Missing> missing() const = 0;
  // The hosts of missing() that cannot take part.
  virtual std::vector<transport::AgentLauncher::Missing> refused() const = 0;
  // Sends every host that is here the outcome `how`, and lets no host in any more. `sent` is called when all have left,
  // or after 5 s.
  virtual void end(const JobEnd& how, std::function<void()> sent) = 0;
};

// Does not let callers in before begin(). `pool` looks up the names of hosts, and outlives the coordinator. Error
// (Internal): the TLS library fails.
Result<std::unique_ptr<Coordinator>> make_coordinator(const boost::asio::any_io_executor& loop,
                                                      boost::asio::thread_pool& pool, CoordinatorPlan plan,
                                                      Coordinator::Events events);

}  // namespace sml::dialin
