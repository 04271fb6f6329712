#include "launcher/launch/deadline_timer.h"

namespace sml::launch {

void DeadlineTimer::arm() {
  const std::optional<TimePoint> due = handlers_.deadline();
  if (!due) {
    timer_.cancel();
    return;
  }
  timer_.expires_at(*due);
  timer_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    if (error || alive.expired()) return;
    // A time that came together with the news which took it back comes here all the same.
    const std::optional<TimePoint> now_due = handlers_.deadline();
    if (now_due && *now_due <= Clock::now()) handlers_.passed();
  });
}

}  // namespace sml::launch
