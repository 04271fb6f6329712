#include "launcher/fleet/fleet.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "common/core/switch_point.h"
#include "common/core/text.h"
#include "launcher/launch/clean_up.h"
#include "launcher/launch/wire_time.h"

namespace sml::fleet {

namespace {

constexpr Duration kLate = std::chrono::seconds(1);  // a timer that is so late shows that we stood still

// Often enough that a host is not taken for lost.
Duration ping_interval(Duration heartbeat_timeout) {
  constexpr Duration kLongest = std::chrono::seconds(5);
  return std::min(kLongest, heartbeat_timeout / 3);
}

Error unheard_for(Duration heartbeat_timeout) {
  return Error(ErrorKind::Lost, "lost: nothing heard for " + format_duration(heartbeat_timeout))
      .with_hint("--heartbeat-timeout waits longer");
}

}  // namespace

Fleet::Fleet(boost::asio::io_context& loop, const launch::AgentImage& image, std::unique_ptr<launch::Reach> reach,
             Duration heartbeat_timeout)
    : loop_(loop),
      image_(image),
      reach_(std::move(reach)),
      heartbeat_timeout_(heartbeat_timeout),
      ping_timer_(loop),
      suspend_timer_(loop) {}

Fleet::~Fleet() = default;

Result<void> Fleet::open(launch::Reach::Events events) { return reach_->open(std::move(events)); }

void Fleet::add(HostIndex index, launch::AgentSession::Plan plan) {
  const auto known = std::find_if(hosts_.begin(), hosts_.end(), [&](const Host& h) { return h.id == plan.host; });
  if (known != hosts_.end()) {
    known->index = index;
    known->next = std::move(known->session->is_local() ? plan.prepare_local : plan.prepare_remote);
    return;
  }
  Host& host = hosts_.emplace_back();
  host.id = plan.host;
  host.index = index;
  host.position = hosts_.size() - 1;
  host.session = std::make_unique<launch::AgentSession>(loop_.get_executor(), static_cast<SessionOwner&>(*this), image_,
                                                        *reach_, std::move(plan));
  positions_.resize(std::max<std::size_t>(positions_.size(), host.id.value() + 1));
  positions_[host.id.value()] = host.position;
}

void Fleet::start() {
  for (Host& host : hosts_) {
    if (host.next) {
      host.session->prepare(*std::exchange(host.next, std::nullopt));
    } else if (!next_ping_) {
      reach(host);
    }
  }
  if (next_ping_) return;
  next_ping_ = Clock::now() + ping_interval(heartbeat_timeout_);
  ping_all();
}

// The others may come while we are still busy with our own host.
void Fleet::reach(Host& host) {
  launch::Chore* chore = reach_->chore_of(host.id);
  if (chore == nullptr) return host.session->start();
  preparation_.emplace(loop_.get_executor(), *chore, [session = host.session.get()](const Result<void>& done) {
    if (session->ended()) return;
    if (!done) return session->abandon(done.error());
    session->start();
  });
}

Host& Fleet::of(const launch::AgentSession& session) { return hosts_[positions_[session.host().value()]]; }

bool Fleet::all_ended() const {
  return std::all_of(hosts_.begin(), hosts_.end(), [](const Host& host) { return host.session->ended(); });
}

bool Fleet::all_cleared() const {
  return std::all_of(hosts_.begin(), hosts_.end(), [](const Host& host) {
    return host.session->ended() || host.session->state() == launch::SessionState::Cleared;
  });
}

std::vector<hosts::OneMachine> Fleet::machines(const plan::JobMap& map) const {
  if (reach_->sameness() == launch::Reach::Sameness::OfNames) return {};
  std::vector<hosts::SeenHost> seen;
  for (const Host& host : hosts_) seen.push_back({map.hosts[host.index.value()].host, host.machine});
  return hosts::find_machines(seen);
}

// ---- what sessions tell

void Fleet::session_introduced(launch::AgentSession& session) {
  listener_->host_introduced(of(session));
  if (suspended_) session.suspend();
}

void Fleet::session_ready(launch::AgentSession& session, const wire::Prepared& message) {
  Host& host = of(session);
  host.chosen_addresses = believable_addresses(message.addresses, place_of(session));
  listener_->host_prepared(host, message);
}

void Fleet::session_message(launch::AgentSession& session, wire::ToLauncher message) {
  Host& host = of(session);
  std::visit([&](const auto& m) { note(host, m); }, message);
  listener_->host_message(host, std::move(message));
}

void Fleet::session_step(const launch::AgentSession& session) { listener_->host_step(of(session)); }

void Fleet::session_ended(launch::AgentSession& session, const Error* why) { listener_->host_ended(of(session), why); }

void Fleet::note(Host& host, const wire::HelloAck& m) {
  host.addresses = believable_addresses(m.addresses, place_of(*host.session));
  host.machine = m.machine;
  host.traces = {.mark = host.session->mark(), .agent = m.pid, .cgroup = m.cgroup, .scratch = m.scratch};
  host.clock.heard(std::chrono::nanoseconds(m.now_ns), Clock::now());
  ping(host);
}

void Fleet::note(Host& host, const wire::Pong& m) const {
  const TimePoint asked{std::chrono::nanoseconds(m.token)};
  host.clock.answered(asked, std::chrono::nanoseconds(m.now_ns), Clock::now());
}

// ---- what they are told

void Fleet::ping(Host& host) { host.session->send(wire::Ping{launch::nanoseconds(Clock::now().time_since_epoch())}); }

// Agents whose launcher is silent leave; and those that are silent themselves are lost.
void Fleet::ping_all() {
  ping_timer_.expires_at(*next_ping_);
  ping_timer_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    const TimePoint now = Clock::now();
    const bool we_stood_still = now - *next_ping_ > kLate;
    for (Host& host : hosts_) {
      if (!host.runs()) continue;
      ping(host);
      if (we_stood_still || now - host.session->last_heard() < heartbeat_timeout_) continue;
      SML_SWITCH_POINT("a host is not heard any more");
      host.session->abandon(unheard_for(heartbeat_timeout_));
    }
    listener_->hosts_pinged();
    next_ping_ = now + ping_interval(heartbeat_timeout_);
    ping_all();
  });
}

void Fleet::tell(HostIndex index, const wire::ToAgent& message) {
  for (Host& host : hosts_) {
    if (host.index == index) host.session->send(message);
  }
}

void Fleet::tell_all(const wire::ToAgent& message) {
  for (Host& host : hosts_) host.session->send(message);
}

void Fleet::end_workers(const wire::Stop& how, launch::Afterwards afterwards) {
  for (Host& host : hosts_) host.session->end_workers(how, afterwards);
}

// The agents are told first: they stop the workers, and do not take our silence for our end. What has been sent needs a
// moment on its way through the library before we stop ourselves.
void Fleet::suspend(std::function<void()> continued) {
  constexpr auto kOnItsWay = std::chrono::milliseconds(50);
  suspended_ = true;
  for (Host& host : hosts_) host.session->suspend();
  suspend_timer_.expires_after(kOnItsWay);
  suspend_timer_.async_wait([this, continued = std::move(continued)](boost::system::error_code error) {
    if (error) return;
    SML_SWITCH_POINT("sml-run stops itself");
    ::raise(SIGSTOP);  // until somebody continues us
    suspended_ = false;
    continued();
    for (Host& host : hosts_) host.session->resume();
  });
}

// ---- the end

void Fleet::dismiss() {
  for (const Host& host : hosts_) {
    if (!host.session->agent_vanished() || !reach_->reaches_again(host.id)) continue;
    vanished_.push_back(host.session->plan_of_clean_up(host.traces));
  }
  hosts_.clear();
}

void Fleet::tell_end(const launch::RunEnd& end) {
  loop_.restart();
  if (reach_->tell_end(end, [this] { loop_.stop(); })) loop_.run();
}

void Fleet::clean_up(const std::function<void(const std::string&)>& say) {
  launch::CleanUp(loop_, image_, *reach_, say).run(std::exchange(vanished_, {}));
}

}  // namespace sml::fleet
