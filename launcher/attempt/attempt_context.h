// The parts of a run that its attempts use, and the parameters of an attempt.
#pragma once
#include <cstddef>
#include <cstdint>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/clock.h"
#include "launcher/attempt/attempt_owner.h"
#include "launcher/attempt/worker_sink.h"
#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"
#include "launcher/report/events/event_feed.h"

namespace sml::attempt {

// Everything here outlives the attempt.
struct AttemptContext {
  boost::asio::any_io_executor loop;
  const JobOptions& options;
  fleet::Fleet& fleet;
  const report::EventFeed& events;
  AttemptOwner& owner;
  WorkerSink& sink;
};

// The parameters that the run passes to an attempt, besides the plan.
struct Terms {
  // Stay: another attempt may follow; AttemptOwner::attempt_cleared() is called, and the agents wait.
  transport::Afterwards afterwards = transport::Afterwards::Leave;
  // when the workers of the first attempt started, from which --timeout counts; zero: this is the first
  TimePoint first_start;
  std::uint32_t restarts_used = 0;  // restarts that earlier attempts used up
  // number of hosts of the previous plan, which the event feed already knows; 0: there is no previous plan
  std::size_t hosts_told = 0;
};

}  // namespace sml::attempt
