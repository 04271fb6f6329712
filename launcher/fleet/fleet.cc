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

// From when an agent has lost us: its workers are asked to end, and killed.
constexpr Duration kLostWorkersEnd = launch::kLostGrace + std::chrono::milliseconds(500);

constexpr Duration kLate = std::chrono::seconds(1);  // a timer that is so late shows that we stood still

// Often enough that a host is not taken for lost.
Duration ping_interval(Duration heartbeat_timeout) {
  constexpr Duration kLongest = std::chrono::seconds(5);
  return std::min(kLongest, heartbeat_timeout / 5);
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

void Fleet::begin_group(std::vector<HostIndex> places) {
  places_ = std::move(places);
  members_ = 0;
  for (Host& host : hosts_) host.index = places_[host.id.value()];
}

// One that waits is told what to do next; any other is reached anew.
Host& Fleet::enlist(launch::AgentSession::Plan plan) {
  const auto known = std::find_if(hosts_.begin(), hosts_.end(), [&](const Host& h) { return h.id == plan.host; });
  if (known != hosts_.end() && known->session->state() == launch::SessionState::Cleared) {
    known->next = std::move(known->session->is_local() ? plan.prepare_local : plan.prepare_remote);
    return *known;
  }
  Host fresh;
  fresh.id = plan.host;
  fresh.index = places_[plan.host.value()];
  fresh.session = std::make_unique<launch::AgentSession>(loop_.get_executor(), static_cast<SessionOwner&>(*this),
                                                         image_, *reach_, std::move(plan));
  if (known != hosts_.end()) {
    fresh.position = known->position;
    *known = std::move(fresh);
    return *known;
  }
  fresh.position = hosts_.size();
  positions_.resize(std::max<std::size_t>(positions_.size(), fresh.id.value() + 1));
  positions_[fresh.id.value()] = fresh.position;
  return hosts_.emplace_back(std::move(fresh));
}

void Fleet::add(launch::AgentSession::Plan plan) {
  Host& host = enlist(std::move(plan));
  Host& place = hosts_[members_++];
  if (&host != &place) {
    std::swap(host, place);
    std::swap(host.position, place.position);
    positions_[host.id.value()] = host.position;
    positions_[place.id.value()] = place.position;
  }
}

// One that waits already goes on to do so.
void Fleet::add_spare(launch::AgentSession::Plan plan) {
  const auto known = std::find_if(hosts_.begin(), hosts_.end(), [&](const Host& h) { return h.id == plan.host; });
  if (known == hosts_.end() || known->session->ended()) enlist(std::move(plan));
}

void Fleet::start() {
  for (Host& host : hosts_) {
    if (host.next) {
      host.session->prepare(*std::exchange(host.next, std::nullopt));
    } else if (std::exchange(host.unreached, false)) {
      reach(host);
    }
  }
  for (Host& host : others()) {
    if (host.lost) host.session->release();
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
  const std::span<const Host> members = hosts();
  return std::all_of(members.begin(), members.end(), [](const Host& host) {
    return host.session->ended() || host.session->state() == launch::SessionState::Cleared;
  });
}

std::vector<HostId> Fleet::lost() const {
  std::vector<HostId> out;
  for (const Host& host : hosts_) {
    if (host.lost) out.push_back(host.id);
  }
  return out;
}

// Its agent may have heard our last word when it came, and then waits for as long as we do. One that has vanished had a
// guardian.
std::optional<TimePoint> Fleet::lost_workers_end() const {
  std::optional<TimePoint> last;
  for (const Host& host : hosts_) {
    const bool ended = !host.lost || !host.session->ended() || host.session->agent_vanished();
    if (ended || !host.session->had_workers()) continue;
    const TimePoint end = host.session->last_said() + heartbeat_timeout_ + kLostWorkersEnd;
    last = std::max(last.value_or(end), end);
  }
  return last && *last > Clock::now() ? last : std::nullopt;
}

std::vector<hosts::OneMachine> Fleet::machines(const plan::JobMap& map) const {
  if (reach_->sameness() == launch::Reach::Sameness::OfNames) return {};
  std::vector<hosts::SeenHost> seen;
  for (const Host& host : hosts_) seen.push_back({map.hosts[host.index.value()].host, host.machine});
  return hosts::find_machines(seen);
}

// ---- what sessions tell

void Fleet::session_introduced(launch::AgentSession& session) {
  if (Host& host = of(session); is_member(host)) listener_->host_introduced(host);
  if (suspended_) session.suspend();
}

void Fleet::session_ready(launch::AgentSession& session, const wire::Prepared& message) {
  Host& host = of(session);
  host.chosen_addresses = believable_addresses(message.addresses, place_of(session));
  if (is_member(host)) return listener_->host_prepared(host, message);
  if (!message.obstacles.empty()) return session.abandon(error_of(message.obstacles.front()));
  session.end_workers({SIGTERM, 0}, launch::Afterwards::Stay);  // there are none: it waits
}

void Fleet::session_message(launch::AgentSession& session, wire::ToLauncher message) {
  Host& host = of(session);
  std::visit([&](const auto& m) { note(host, m); }, message);
  if (is_member(host)) return listener_->host_message(host, std::move(message));
  of_spares_->spare_message(host, message);
  if (std::holds_alternative<wire::Cleared>(message)) of_spares_->spare_waits(host);
}

void Fleet::session_step(const launch::AgentSession& session) {
  const Host& host = of(session);
  if (is_member(host)) return listener_->host_step(host);
  of_spares_->spare_step(host);
}

void Fleet::session_ended(launch::AgentSession& session, const Error* why) {
  Host& host = of(session);
  if (is_member(host)) return listener_->host_ended(host, why);
  if (why != nullptr) host.lost = true;
  of_spares_->spare_ended(host, why);
}

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

void Fleet::ping(Host& host) {
  host.pinged = Clock::now();
  host.session->send(wire::Ping{launch::nanoseconds(host.pinged.time_since_epoch())});
}

// Agents whose launcher is silent leave; and those that are silent themselves are lost. Who does not answer hears no
// more of us, so that it is not long after we have lost it that it has lost us.
void Fleet::ping_all() {
  ping_timer_.expires_at(*next_ping_);
  ping_timer_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    const TimePoint now = Clock::now();
    const bool we_stood_still = now - *next_ping_ > kLate;
    for (Host& host : hosts_) {
      if (!host.runs()) continue;
      if (host.session->last_heard() >= host.pinged) ping(host);
      if (we_stood_still || now - host.session->last_heard() < heartbeat_timeout_) continue;
      SML_SWITCH_POINT("a host is not heard any more");
      host.session->abandon(unheard_for(heartbeat_timeout_));
    }
    listener_->hosts_pinged();
    next_ping_ = now + ping_interval(heartbeat_timeout_);
    for (const Host& host : hosts_) {
      const TimePoint silent = host.session->last_heard() + heartbeat_timeout_;
      if (host.runs() && silent > now) next_ping_ = std::min(*next_ping_, silent);
    }
    ping_all();
  });
}

void Fleet::tell(HostIndex index, const wire::ToAgent& message) {
  for (Host& host : hosts()) {
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
  members_ = 0;
}

void Fleet::tell_end(const launch::RunEnd& end) {
  loop_.restart();
  if (reach_->tell_end(end, [this] { loop_.stop(); })) loop_.run();
}

void Fleet::clean_up(const std::function<void(const std::string&)>& say) {
  launch::CleanUp(loop_, image_, *reach_, say).run(std::exchange(vanished_, {}));
}

}  // namespace sml::fleet
