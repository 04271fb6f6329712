// Keeps agents and launcher sure of each other: those that run are pinged, and those that are silent given up.
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
  // `hosts` outlives this. `passed`: a moment has.
  Heartbeat(const boost::asio::any_io_executor& loop, HostTable& hosts, Duration timeout, std::function<void()> passed)
      : hosts_(hosts), timeout_(timeout), passed_(std::move(passed)), timer_(loop) {}

  // Once somebody is reached; later calls change nothing.
  void begin();
  // When the last worker has ended on hosts whose agents we have lost, as agents end them by themselves when they do
  // not hear us; no time when it has.
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
  std::optional<TimePoint> next_;  // nothing: nobody has been reached yet
};

}  // namespace sml::fleet
