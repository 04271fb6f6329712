// Pings the agents that run, so that each side knows that the other lives. After half of the time limit without a byte
// from an agent, asks its session for another connection to it; after all of it, abandons the session.
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
  // `hosts` outlives this. A host is given up after `timeout` without a byte from it. `passed` is called after each
  // round of pings.
  Heartbeat(const boost::asio::any_io_executor& loop, HostTable& hosts, Duration timeout, std::function<void()> passed)
      : hosts_(hosts), timeout_(timeout), passed_(std::move(passed)), timer_(loop) {}

  // Begins the rounds of pings, which pass over hosts whose agents do not run; later calls have no effect.
  void begin();
  // The time by which the last worker has ended on hosts whose agents are lost: an agent that receives nothing from the
  // launcher ends its workers by itself. nullopt: they have ended, or there are none.
  std::optional<TimePoint> lost_workers_end() const;

 private:
  void await_next();
  void beat();
  TimePoint last_received(const Host& host) const;

  HostTable& hosts_;
  Duration timeout_;
  std::function<void()> passed_;
  boost::asio::steady_timer timer_;
  TimePoint awake_since_ = TimePoint::min();  // when this process last went on after it was stopped; min: never
  std::optional<TimePoint> next_;             // the time of the next round; nullopt: begin() was not called
};

}  // namespace sml::fleet
