#include "launcher/fleet/heartbeat.h"

#include <algorithm>

#include "common/core/text.h"

namespace sml::fleet {

namespace {

constexpr Duration kLate = std::chrono::seconds(1);  // a timer this late shows that this process was stopped

// Often enough that a host is not taken for lost, and does not take the launcher for lost. The last ping to a host that
// has died is sent at most this long after its last answer.
Duration interval(Duration timeout) {
  constexpr Duration kLongest = std::chrono::seconds(5);
  return std::min(kLongest, timeout / 20);
}

Error heartbeat_lost(Duration timeout) {
  return Error(ErrorKind::Lost, "lost: nothing received for " + format_duration(timeout))
      .with_hint("--heartbeat-timeout waits longer");
}

}  // namespace

void Heartbeat::begin() {
  if (next_) return;
  next_ = Clock::now() + interval(timeout_);
  await_next();
}

void Heartbeat::await_next() {
  timer_.expires_at(*next_);
  timer_.async_wait([this](boost::system::error_code error) {
    if (!error) beat();
  });
}

// While this process was stopped, it could not receive from any host.
TimePoint Heartbeat::last_received(const Host& host) const {
  return std::max(host.session->contact().last_heard, awake_since_);
}

// Agents leave if the launcher is silent, and are lost if they are silent themselves. A host that does not answer gets
// no further ping, so that it gives up the launcher soon after the launcher has given up the host.
void Heartbeat::beat() {
  const TimePoint now = Clock::now();
  if (now - *next_ > kLate) awake_since_ = now;
  for (Host& host : hosts_.all()) {
    if (!host.runs()) continue;
    if (host.session->contact().last_heard >= host.pinged) host.ping();
    if (now - last_received(host) >= timeout_ / 2) host.session->doubt();
    if (now - last_received(host) < timeout_) continue;
    host.session->abandon(heartbeat_lost(timeout_));
  }
  passed_();
  next_ = now + interval(timeout_);
  for (const Host& host : hosts_.all()) {
    const TimePoint silent = last_received(host) + timeout_;
    if (host.runs() && silent > now) next_ = std::min(*next_, silent);
  }
  await_next();
}

// Its agent may have received the launcher's last message just after that was sent, and reacts to the silence in time
// (transport::policy_before_replacement). If the agent has vanished, its guardian has ended the workers.
std::optional<TimePoint> Heartbeat::lost_workers_end() const {
  std::optional<TimePoint> last;
  for (const Host& host : hosts_.all()) {
    const bool ended = !host.lost || !host.session->ended() || host.session->agent_vanished();
    if (ended || !host.session->had_workers()) continue;
    const TimePoint end = host.session->last_sent() + timeout_;
    last = std::max(last.value_or(end), end);
  }
  return last && *last > Clock::now() ? last : std::nullopt;
}

}  // namespace sml::fleet
