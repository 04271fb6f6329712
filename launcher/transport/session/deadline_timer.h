// A timer for a deadline that changes with events, such as that of a state machine.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"

namespace sml::transport {

class DeadlineTimer {
 public:
  struct Deps {
    std::function<std::optional<TimePoint>()> deadline;  // the deadline as of now; nullopt: none
    // the deadline has passed; called by the loop, never after this is destroyed
    std::function<void()> passed;
  };
  DeadlineTimer(const boost::asio::any_io_executor& loop, Deps deps) : deps_(std::move(deps)), timer_(loop) {}

  // Call after any event that may have changed the deadline, also after `passed`: the timer does not arm itself.
  void arm();

 private:
  Deps deps_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sml::transport
