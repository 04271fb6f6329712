// Asks the agents where their workers are, and waits for their answers, but not for long.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/process_trace.h"
#include "common/wire/messages.h"
#include "launcher/fleet/fleet.h"
#include "launcher/report/hang_report.h"

namespace sml::attempt {

class Inquiry {
 public:
  // RankTrace::quiet is not filled in.
  using Done = std::function<void(report::Traces)>;

  static constexpr Duration kAgents = std::chrono::milliseconds(2200);  // that an agent has
  static constexpr Duration kAll = std::chrono::milliseconds(2800);     // then those that have answered count

  // The fleet outlives this.
  Inquiry(const boost::asio::any_io_executor& loop, fleet::Fleet& fleet) : fleet_(fleet), timer_(loop) {}

  // `done` is called once, from the loop or from within end(). Who asks while another waits gets the same answers, by
  // the tools of the first.
  void ask(TraceTools tools, Done done);
  void handle(const fleet::Host& host, const wire::Trace& m);
  void handle(const fleet::Host& host, const wire::Traced& m);
  // Nobody will answer any more: what has come is all.
  void end() { conclude(); }

 private:
  void conclude();

  fleet::Fleet& fleet_;
  boost::asio::steady_timer timer_;
  std::vector<Done> waiting_;  // empty: nothing has been asked
  std::uint32_t id_ = 0;
  std::set<std::string> unanswered_;  // hosts
  report::Traces traces_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sml::attempt
