#include "launcher/transport/session/deadline_timer.h"

namespace sml::transport {

void DeadlineTimer::arm() {
  const std::optional<TimePoint> due = deps_.deadline();
  if (!due) {
    timer_.cancel();
    return;
  }
  timer_.expires_at(*due);
  timer_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    if (error || alive.expired()) return;
    // The timer may have expired at the same time as an event that moved the deadline, so check again.
    const std::optional<TimePoint> now_due = deps_.deadline();
    if (now_due && *now_due <= Clock::now()) deps_.passed();
  });
}

}  // namespace sml::transport
