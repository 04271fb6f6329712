// Asks the agents for the stacks of their workers.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "common/core/process_trace.h"
#include "common/wire/messages.h"
#include "launcher/attempt/hosts/host_broadcast.h"
#include "launcher/report/hosts/hang_report.h"

namespace sml::attempt {

class StackQuery {
 public:
  // The ranks are in order; RankTrace::quiet is not set.
  using Done = std::function<void(report::Traces)>;

  static constexpr Duration kAgents = std::chrono::milliseconds(2200);  // the time that the agents are given
  static constexpr Duration kAll = std::chrono::milliseconds(2800);     // then the replies received so far count

  // The fleet outlives this.
  StackQuery(const boost::asio::any_io_executor& loop, fleet::Fleet& fleet) : poll_(loop, fleet) {}

  // `done` is called once, from the loop or from within end(). A request made while another is pending gets the same
  // replies, made with the tools of the first.
  void ask(TraceTools tools, Done done);
  void handle(const fleet::Host& host, const wire::Trace& m);
  void handle(const fleet::Host& host, const wire::Traced& m) { poll_.answered(host, m.id); }
  // No more replies will come: concludes with those received.
  void end() { poll_.end(); }

 private:
  void conclude(std::vector<std::string> silent);

  HostBroadcast poll_;
  std::vector<Done> waiting_;
  report::Traces traces_;
};

}  // namespace sml::attempt
