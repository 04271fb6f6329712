#include "tests/simulation/host_system.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <boost/asio/post.hpp>

#include "tests/simulation/host.h"
#include "tests/simulation/job.h"
#include "tests/simulation/plants.h"

namespace sml::sim {

namespace {

os::UniqueFd make_socket() { return os::UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

// Without a name the kernel gives it one (unix(7)).
bool bind_to(const os::UniqueFd& socket, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path, sizeof address.sun_path);
  const auto size = static_cast<socklen_t>(sizeof address.sun_family + name.size());
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0;
}

std::string name_of(const os::UniqueFd& socket) {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return {address.sun_path, size - sizeof address.sun_family};
}

}  // namespace

// ---- processes

std::variant<pid_t, SpawnFailed> HostProcesses::start(const os::WorkerProcess& worker) {
  return of_.host().spawn(of_, worker);
}

void HostProcesses::signal(pid_t pid, int signo) { of_.host().signal(pid < 0 ? -pid : pid, signo); }

std::vector<pid_t> HostProcesses::children() { return of_.host().children(of_); }

void HostProcesses::reap(const Ended& ended) {
  of_.host().reap(of_, [&ended](pid_t pid, const ExitStatus& status) { ended(pid, status, Usage()); });
}

// ---- the network

std::vector<std::string> HostNetwork::own_addresses() { return {of_.host().address()}; }

Result<agent::RendezvousPort> HostNetwork::reserve_port(wire::ServiceReach) {
  const std::uint32_t attempt = of_.link().prepared();
  const auto is_closed = [&](const Listener& one) {
    return one.attempt != attempt && bind_to(make_socket(), one.name);
  };
  std::erase_if(listeners_, is_closed);
  for (const Listener& one : listeners_) {
    if (one.attempt != attempt) world->broken(of_.host().name() + " has a port of an earlier attempt");
  }
  os::UniqueFd listener = make_socket();
  if (!bind_to(listener, {}) || ::listen(listener.get(), 1) != 0) throw Broken{"no socket can be made"};
  listeners_.push_back({attempt, name_of(listener)});
  if (plants::strikes(plants::kKeptStore)) kept_.emplace_back(::fcntl(listener.get(), F_DUPFD_CLOEXEC, 3));
  return agent::RendezvousPort(static_cast<std::uint16_t>(20'000 + world->dice.below(10'000)), os::UniqueFd(),
                               std::move(listener));
}

void HostNetwork::probe_addresses(boost::asio::io_context& loop, const std::vector<std::string>& addresses,
                                  std::uint16_t, Duration timeout, Probed answer) {
  std::vector<wire::ProbeResult> results;
  Duration takes = std::chrono::milliseconds(1);
  for (const std::string& address : addresses) {
    const Job::Address who = job->whose(address);
    using enum Job::Address;
    results.push_back({address, who == OfAHost ? 0 : who == OfADeadHost ? ETIMEDOUT : ECONNREFUSED});
    if (who == OfADeadHost) takes = timeout;
  }
  world->after(takes, [this, &loop, results = std::move(results), answer = std::move(answer)] {
    if (of_.gone()) return;
    boost::asio::post(loop, [answer, results] { answer(results); });
    of_.ready = true;
  });
}

}  // namespace sml::sim
