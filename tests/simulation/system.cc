// What the programs call of the system by functions of ours, in the place of the files that have the real ones (each is
// replaced as a whole: the linker refuses two). And what stands for sockets: ports, probes, stores.
#include <cerrno>
#include <memory>
#include <utility>

#include <boost/asio/post.hpp>

#include "common/os/cgroup.h"
#include "common/os/connections.h"
#include "common/os/descendants.h"
#include "common/os/last_signals.h"
#include "common/os/machine_identity.h"
#include "common/os/oom_watch.h"
#include "common/os/spawn.h"
#include "launcher/agent/guardian.h"
#include "launcher/agent/leftovers.h"
#include "launcher/agent/rendezvous_port.h"
#include "launcher/agent/return_door.h"
#include "launcher/agent/route_interface.h"
#include "launcher/agent/scratch_folder.h"
#include "launcher/agent/store_server.h"
#include "launcher/control/runtime_folder.h"
#include "launcher/fleet/ways.h"
#include "tests/simulation/host.h"
#include "tests/simulation/job.h"

namespace sml::os {

// ---- spawn.cc

std::vector<int> ignored_signals() { return {}; }
std::variant<pid_t, SpawnFailed> spawn_worker(const WorkerProcess& worker) {
  return sim::current_host().spawn(sim::current_agent(), worker);
}
std::vector<std::string> program_candidates(const std::string&, std::span<const std::string>) { return {}; }
bool has_program(const std::string&, std::span<const std::string>) { return true; }
Result<void> check_directory(const std::string&) { return {}; }
Result<std::string> find_program(std::span<const std::string>, std::span<const std::string>, const std::string&) {
  return std::string("/nowhere/program");
}
Result<pid_t> spawn_helper(const HelperProcess&) { return Error(ErrorKind::Internal, "not in a simulation"); }

// ---- descendants.cc

bool become_subreaper() { return true; }
std::vector<pid_t> children() { return sim::current_host().children(sim::current_agent()); }
std::vector<pid_t> children_of(pid_t) { return {}; }
std::vector<pid_t> family_of(pid_t pid, std::size_t) { return {pid}; }
bool is_stopped(pid_t) { return false; }
std::set<uid_t> users_of_descendants() { return {}; }
void reap_children(const std::function<void(pid_t, const ExitStatus&, const Usage&)>& ended) {
  sim::current_host().reap(sim::current_agent(),
                           [&ended](pid_t pid, const ExitStatus& status) { ended(pid, status, Usage()); });
}
std::string describe_process(pid_t pid) { return "pid " + std::to_string(pid); }

// ---- machine_identity.cc, cgroup.cc, oom_watch.cc

// ---- last_signals.cc: another job follows

void LastSignals::add(int signo) {
  set_.add(signo);
  added_.push_back(signo);
}
LastSignals::~LastSignals() = default;

// ---- connections.cc: nobody has any

std::set<pid_t> groups_connected_to(std::uint16_t, const std::set<pid_t>&) { return {}; }

std::string machine_identity() { return sim::current_host().machine; }
std::string Cgroup::current() { return {}; }
OomWatch::OomWatch() = default;
std::optional<OomWatch::Kills> OomWatch::look() { return std::nullopt; }

}  // namespace sml::os

namespace sml::control {

// ---- runtime_folder.cc: nobody asks a job

Result<Folder> make_runtime_folder() { return Error(ErrorKind::Io, "not in a simulation"); }
std::string socket_name(std::string_view job_id) { return std::string(job_id); }
std::string path_through(int, std::string_view) { return {}; }

}  // namespace sml::control

namespace sml::agent {

// ---- scratch_folder.cc: there is none

ScratchFolder::ScratchFolder() = default;
ScratchFolder::~ScratchFolder() = default;
void ScratchFolder::clear() const {}
std::string ScratchFolder::error_file(Rank) const { return {}; }
std::string ScratchFolder::take_error_file(Rank, std::size_t) const { return {}; }

// ---- guardian.cc: no guardian dies

Guard::Guard(Pact& pact, std::string mark, const ScratchFolder& scratch, std::optional<os::Cgroup>& cgroup)
    : pact_(pact), mark_(std::move(mark)), scratch_(scratch), cgroup_(cgroup), pid_(0) {}
Guard::~Guard() = default;
void Guard::allow(std::chrono::milliseconds stand_still) {
  pact_.stand_still_ms = static_cast<std::uint32_t>(stand_still.count());
}
void Guard::look() {}
bool Guard::is_lost() const { return false; }
Result<void> Guard::replace() { return {}; }

// ---- leftovers.cc: guardians have ended everything

std::string mark_entry(const std::string& mark) { return "SML_MARK=" + mark; }
Leftovers end_leftovers(const wire::EndLeft&) { return {}; }

// ---- return_door.cc: it is this agent's, and the host knows where

ReturnDoor::ReturnDoor(boost::asio::io_context& loop, std::string secret, Taker taker)
    : door_(loop), caller_(loop), secret_(std::move(secret)), taker_(std::move(taker)) {
  sim::AgentProcess& agent = sim::current_agent();
  name_ = "door-" + std::to_string(agent.pid());
  agent.door = lifetime_.guard([this](Returned& pipe, bool& taken) {
    if (pipe.wish.secret != secret_) sim::world->broken("a messenger does not know the secret");
    taken = taker_(std::move(pipe));
  });
}

void ReturnDoor::say_goodbye() {}

// ---- route_interface.cc

std::string interface_towards(const std::string&) { return "eth0"; }
plan::Environment interface_variables(const std::string&) { return {}; }
plan::Environment interface_variables(std::span<const std::string>) { return {}; }
std::vector<rendezvous::InterfaceAddress> interface_addresses() { return {}; }

// ---- rendezvous_port.cc

Result<RendezvousPort> RendezvousPort::reserve(wire::ServiceReach) {
  RendezvousPort out;
  out.port_ = static_cast<std::uint16_t>(20'000 + sim::world->dice.below(10'000));
  return out;
}

std::vector<std::string> own_addresses() { return {sim::current_host().address()}; }

void probe_addresses(boost::asio::io_context& loop, const std::vector<std::string>& addresses, std::uint16_t,
                     Duration timeout, std::function<void(std::vector<wire::ProbeResult>)> answer) {
  std::vector<wire::ProbeResult> results;
  Duration takes = std::chrono::milliseconds(1);
  for (const std::string& address : addresses) {
    const sim::Job::Address who = sim::job->whose(address);
    using enum sim::Job::Address;
    results.push_back({address, who == OfAHost ? 0 : who == OfADeadHost ? ETIMEDOUT : ECONNREFUSED});
    if (who == OfADeadHost) takes = timeout;
  }
  sim::AgentProcess& agent = sim::current_agent();
  sim::world->after(takes, [&agent, &loop, results = std::move(results), answer = std::move(answer)] {
    if (agent.gone()) return;
    boost::asio::post(loop, [answer, results] { answer(results); });
    agent.ready = true;
  });
}

// ---- store_server.cc: nobody calls, but it must be there once

StoreServer::StoreServer(boost::asio::io_context& loop, os::UniqueFd, rendezvous::Engine& engine, Doorkeeper& door,
                         Settings settings)
    : acceptor_(loop), pause_(loop), timer_(loop), engine_(engine), door_(door), settings_(std::move(settings)) {
  sim::Host& host = sim::current_host();
  for (auto& [name, lives] : host.stores) {
    if (name == settings_.name && lives()) sim::world->broken(host.name() + " serves " + name + " twice");
  }
  const auto called = std::make_shared<bool>(false);
  const auto call = std::make_shared<std::function<void()>>(lifetime_.guard([called] { *called = true; }));
  host.stores.emplace_back(settings_.name, [called, call] {
    *called = false;
    (*call)();
    return *called;
  });
}

void StoreServer::settle() {}
void StoreServer::suspend() { suspended_ = true; }
void StoreServer::resume() { suspended_ = false; }
std::string StoreServer::summary() const { return {}; }

}  // namespace sml::agent

namespace sml::fleet {

std::unique_ptr<launch::Reach> make_reach(const boost::asio::any_io_executor& loop, const launch::AgentImage&,
                                          const plan::LaunchPlan&, const SshOptions&, std::optional<dialin::HeadPlan>) {
  return sim::job->make_reach(loop);
}

}  // namespace sml::fleet
