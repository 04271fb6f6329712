#include "launcher/fleet/fleet.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "launcher/transport/clean_up.h"

namespace sml::fleet {

Fleet::Fleet(boost::asio::io_context& loop, const transport::AgentImage& image,
             std::unique_ptr<transport::AgentLauncher> agent_launcher, Duration heartbeat_timeout)
    : loop_(loop),
      image_(image),
      agent_launcher_(std::move(agent_launcher)),
      suspend_timer_(loop),
      heartbeat_(loop.get_executor(), hosts_, heartbeat_timeout, [this] { listener_->hosts_pinged(); }) {}

Fleet::~Fleet() = default;

Result<void> Fleet::open(transport::AgentLauncher::Events events) { return agent_launcher_->open(std::move(events)); }

void Fleet::trace(transport::ProtocolTrace* trace) {
  trace_ = trace;
  for (Host& host : hosts_.all()) host.session->trace(trace);
}

// A host that waits gets its next Prepare; any other host gets a new session.
Host& Fleet::enlist(transport::AgentSession::Plan plan) {
  Host* known = hosts_.find(plan.host);
  if (known != nullptr && known->session->state() == transport::SessionState::Cleared) {
    const bool is_local = known->session->contact().is_local;
    const auto place = is_local ? transport::AgentPlace::ThisMachine : transport::AgentPlace::Remote;
    known->next = std::make_unique<wire::Prepare>(plan.prepare(place));
    return *known;
  }
  Host fresh;
  fresh.id = plan.host;
  fresh.session = std::make_unique<transport::AgentSession>(loop_.get_executor(), static_cast<SessionOwner&>(*this),
                                                            image_, *agent_launcher_, std::move(plan));
  fresh.session->trace(trace_);
  return hosts_.put(std::move(fresh));
}

void Fleet::add(transport::AgentSession::Plan plan) {
  Host& host = enlist(std::move(plan));
  if (!hosts_.is_member(host)) hosts_.make_member(host);
}

// A host that waits already continues to wait.
void Fleet::add_spare(const plan::Host& host, transport::AgentSession::Plan plan) {
  if (hosts_.give_place(plan.host)) agent_launcher_->add_host(host);
  const Host* known = hosts_.find(plan.host);
  if (known == nullptr || known->session->ended()) enlist(std::move(plan));
}

void Fleet::replan(std::span<const HostId> other_names, std::span<const plan::Host> fresh) {
  for (const HostId id : other_names) {
    Host& host = hosts_.of(id);
    host.lost = host.is_other_name = true;
  }
  for (const plan::Host& host : fresh) agent_launcher_->add_host(host);
}

void Fleet::start() {
  for (Host& host : hosts_.all()) {
    if (host.next) {
      host.session->prepare(std::move(*std::exchange(host.next, nullptr)));
    } else if (std::exchange(host.unreached, false)) {
      start_session(host);
    }
  }
  for (Host& host : others()) {
    if (host.lost && !std::exchange(host.released, true)) host.session->release();
  }
  heartbeat_.begin();
}

// In the background, so that other hosts can connect while this host's own task still runs.
void Fleet::start_session(Host& host) {
  transport::PreLaunchTask* task = agent_launcher_->task_of(host.id);
  if (task == nullptr) return host.session->start();
  preparation_.emplace(loop_.get_executor(), *task, [session = host.session.get()](const Result<void>& done) {
    if (session->ended()) return;
    if (!done) return session->abandon(done.error());
    session->start();
  });
}

bool Fleet::all_ended() const {
  const std::span<const Host> all = hosts_.all();
  return std::all_of(all.begin(), all.end(), [](const Host& host) { return host.session->ended(); });
}

bool Fleet::all_cleared() const {
  const std::span<const Host> members = hosts();
  return std::all_of(members.begin(), members.end(), [](const Host& host) {
    return host.session->ended() || host.session->state() == transport::SessionState::Cleared;
  });
}

std::vector<HostId> Fleet::lost() const {
  std::vector<HostId> out;
  for (const Host& host : hosts_.all()) {
    if (host.lost) out.push_back(host.id);
  }
  return out;
}

std::vector<hosts::MachineNames> Fleet::machines(const plan::JobMap& map) const {
  if (agent_launcher_->sameness() == transport::AgentLauncher::Sameness::OfNames) return {};
  std::vector<hosts::SeenHost> seen;
  for (const Host& host : hosts_.all()) {
    const bool counts = !host.lost && host.index.value() < map.hosts.size();
    if (counts) seen.push_back({map.hosts[host.index.value()].host, host.machine});
  }
  return hosts::find_machines(seen);
}

// ---- callbacks of sessions

void Fleet::session_greeted(transport::AgentSession& session) {
  if (Host& host = hosts_.of(session.host()); hosts_.is_member(host)) listener_->host_introduced(host);
  if (suspended_) session.suspend();
}

void Fleet::session_ready(transport::AgentSession& session, const wire::Prepared& message) {
  Host& host = hosts_.of(session.host());
  host.chosen_addresses = believable_addresses(message.addresses, place_of(session));
  if (hosts_.is_member(host)) return listener_->host_prepared(host, message);
  if (!message.errors.empty()) return session.abandon(error_of(message.errors.front()));
  session.end_workers({SIGTERM, 0}, transport::Afterwards::Stay);  // there are no workers: the agent waits
}

void Fleet::session_message(transport::AgentSession& session, wire::ToLauncher message) {
  Host& host = hosts_.of(session.host());
  host.note(message);
  if (hosts_.is_member(host)) return listener_->host_message(host, std::move(message));
  of_spares_->spare_message(host, message);
  if (std::holds_alternative<wire::Cleared>(message)) of_spares_->spare_waits(host);
}

void Fleet::session_step(const transport::AgentSession& session) {
  const Host& host = hosts_.of(session.host());
  if (hosts_.is_member(host)) return listener_->host_step(host);
  of_spares_->spare_step(host);
}

void Fleet::session_ended(transport::AgentSession& session, const Error* why) {
  Host& host = hosts_.of(session.host());
  if (hosts_.is_member(host)) return listener_->host_ended(host, why);
  if (why != nullptr) host.lost = true;
  of_spares_->spare_ended(host, why);
}

// ---- messages to hosts

void Fleet::send(HostIndex index, const wire::ToAgent& message) {
  for (Host& host : hosts()) {
    if (host.index == index) host.session->send(message);
  }
}

void Fleet::send_all(const wire::ToAgent& message) {
  for (Host& host : hosts_.all()) host.session->send(message);
}

void Fleet::end_workers(const wire::Stop& how, transport::Afterwards afterwards) {
  for (Host& host : hosts_.all()) host.session->end_workers(how, afterwards);
}

// The agents get the message first: they stop the workers, and do not take the launcher's silence for its end. Sent
// bytes need a moment on their way through the library before this process stops.
void Fleet::suspend(std::function<void()> stop) {
  constexpr auto kOnItsWay = std::chrono::milliseconds(50);
  suspended_ = true;
  for (Host& host : hosts_.all()) host.session->suspend();
  suspend_timer_.expires_after(kOnItsWay);
  suspend_timer_.async_wait([this, stop = std::move(stop)](boost::system::error_code error) {
    if (error) return;
    stop();
    suspended_ = false;
    for (Host& host : hosts_.all()) host.session->resume();
  });
}

// ---- the end

void Fleet::dismiss() {
  for (const Host& host : hosts_.all()) {
    if (!host.session->agent_vanished() || !agent_launcher_->reaches_again(host.id)) continue;
    vanished_.push_back(host.session->plan_of_clean_up(host.traces));
  }
  hosts_.clear();
}

void Fleet::send_end(const transport::RunEnd& end) {
  loop_.restart();
  if (agent_launcher_->send_end(end, [this] { loop_.stop(); })) loop_.run();
}

void Fleet::clean_up(const std::function<void(const std::string&)>& print) {
  transport::CleanUp(loop_, image_, *agent_launcher_, print).run(std::exchange(vanished_, {}));
}

}  // namespace sml::fleet
