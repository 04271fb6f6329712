#include "launcher/attempt/pre_stop_checkpoint.h"

#include <algorithm>
#include <utility>

namespace sml::attempt {

void PreStopCheckpoint::begin(std::function<void()> over) {
  over_ = std::move(over);
  fleet_.send_all(wire::Signal{options_.checkpoint->signo, {}, options_.target.value_or(SignalTarget::Worker)});
  timer_.expires_after(options_.checkpoint->most);
  timer_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    if (error || alive.expired()) return;
    if (const std::function<void()> then = std::exchange(over_, nullptr)) then();
  });
}

Duration PreStopCheckpoint::end() {
  if (!is_on()) return Duration::zero();
  over_ = nullptr;
  timer_.cancel();
  return std::max(Duration::zero(), Duration(timer_.expiry() - Clock::now()));
}

}  // namespace sml::attempt
