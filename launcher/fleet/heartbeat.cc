#include "launcher/fleet/heartbeat.h"

#include <algorithm>

#include "common/core/text.h"

namespace sml::fleet {

namespace {

constexpr Duration kLate = std::chrono::seconds(1);  // a timer that is so late shows that we stood still

// Often enough that a host is not taken for lost, nor takes us for lost. What one that has died can still have heard
// was said so long after that.
Duration interval(Duration timeout) {
  constexpr Duration kLongest = std::chrono::seconds(5);
  return std::min(kLongest, timeout / 20);
}

Error unheard_for(Duration timeout) {
  return Error(ErrorKind::Lost, "lost: nothing heard for " + format_duration(timeout))
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

// While we stood still ourselves nobody can have been heard.
TimePoint Heartbeat::heard(const Host& host) const {
  return std::max(host.session->contact().last_heard, awake_since_);
}

// Agents whose launcher is silent leave; and those that are silent themselves are lost. Who does not answer hears no
// more of us, so that it is not long after we have lost it that it has lost us.
void Heartbeat::beat() {
  const TimePoint now = Clock::now();
  if (now - *next_ > kLate) awake_since_ = now;
  for (Host& host : hosts_.all()) {
    if (!host.runs()) continue;
    if (host.session->contact().last_heard >= host.pinged) host.ping();
    if (now - heard(host) >= timeout_ / 2) host.session->doubt();
    if (now - heard(host) < timeout_) continue;
    host.session->abandon(unheard_for(timeout_));
  }
  passed_();
  next_ = now + interval(timeout_);
  for (const Host& host : hosts_.all()) {
    const TimePoint silent = heard(host) + timeout_;
    if (host.runs() && silent > now) next_ = std::min(*next_, silent);
  }
  await_next();
}

// Its agent may have heard our last word when it came, and acts on our silence in time (launch::unheard_in_time). One
// that has vanished had a guardian.
std::optional<TimePoint> Heartbeat::lost_workers_end() const {
  std::optional<TimePoint> last;
  for (const Host& host : hosts_.all()) {
    const bool ended = !host.lost || !host.session->ended() || host.session->agent_vanished();
    if (ended || !host.session->had_workers()) continue;
    const TimePoint end = host.session->last_said() + timeout_;
    last = std::max(last.value_or(end), end);
  }
  return last && *last > Clock::now() ? last : std::nullopt;
}

}  // namespace sml::fleet
