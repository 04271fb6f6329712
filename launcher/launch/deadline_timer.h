// Wakes who has a deadline that moves with what happens: that of a state machine.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"

namespace sml::launch {

class DeadlineTimer {
 public:
  struct Handlers {
    std::function<std::optional<TimePoint>()> deadline;
    std::function<void()> passed;
  };
  DeadlineTimer(const boost::asio::any_io_executor& loop, Handlers handlers)
      : handlers_(std::move(handlers)), timer_(loop) {}

  // After all that may have moved it.
  void arm();

 private:
  Handlers handlers_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sml::launch
