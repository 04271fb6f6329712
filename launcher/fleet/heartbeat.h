// Pings the agents that run, so that agents and launcher know that the other side lives, and gives up silent ones.
#pragma once
#include <functional>
#include <optional>
#include <span>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"
#include "launcher/fleet/host_table.h"

namespace sml::fleet {

class Heartbeat {
 public:
  // `hosts` outlives this. `passed` is called after each round of pings.
  Heartbeat(const boost::asio::any_io_executor& loop, HostTable& hosts, Duration timeout, std::function<void()> passed)
      : hosts_(hosts), timeout_(timeout), passed_(std::move(passed)), timer_(loop) {}

  // Call when the first host is reached; later calls have no effect.
  void begin();
  // The time by which the last worker has ended on hosts whose agents are lost: an agent that receives nothing from the
  // launcher ends its workers by itself. nullopt: they have ended.
  std::optional<TimePoint> lost_workers_end() const;

 private:
  void await_next();
  void beat();
  TimePoint heard(const Host& host) const;

  HostTable& hosts_;
  Duration timeout_;
  std::function<void()> passed_;
  boost::asio::steady_timer timer_;
  TimePoint awake_since_ = TimePoint::min();
  std::optional<TimePoint> next_;  // nullopt: no host has been reached yet
};

}  // namespace sml::fleet
