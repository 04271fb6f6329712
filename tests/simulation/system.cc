// What the programs call of the system by functions of ours, in the place of the files that have the real ones (each is
// replaced as a whole: the linker refuses two). And what stands for sockets: ports, probes, stores.
#include <cerrno>
#include <memory>
#include <utility>

#include <boost/asio/post.hpp>

#include "common/os/cgroup.h"
#include "common/os/machine_identity.h"
#include "common/os/oom_watch.h"
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

// ---- machine_identity.cc, cgroup.cc, oom_watch.cc

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
