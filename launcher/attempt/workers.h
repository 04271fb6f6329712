// Takes what the agents report about the workers of one attempt: records it in the rank table, passes it on to the
// WorkerSink and the event feed, and limits the flow of output by credit. It ends no worker.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "common/wire/messages.h"
#include "launcher/attempt/attempt_context.h"
#include "launcher/attempt/rank_table.h"
#include "launcher/fleet/fleet.h"
#include "launcher/report/live/work_clock.h"

namespace sml::attempt {

class Workers {
 public:
  // The context outlives this; the fleet has its hosts already.
  Workers(const AttemptContext& context, const plan::LaunchPlan& plan);

  // Call when the plan has more ranks, behind the planned ones.
  void grow(const plan::LaunchPlan& plan) { table_.grow(plan); }
  // The host joined the fleet while the workers run, or joined again; its output window is that of one of `sharing`
  // hosts.
  void add(const fleet::Host& host, std::size_t sharing);
  // The workers start now: no event of a worker gets an earlier time.
  void begin(TimePoint started) { started_ = started; }

  // Call when the host's agent runs: grants an agent on another machine the rest of its output window.
  void greet(const fleet::Host& host);
  void handle(const fleet::Host& host, const wire::Started& m);
  void handle(const fleet::Host& host, const wire::Output& m);
  void handle(const fleet::Host& host, const wire::Drained& m);
  void handle(const fleet::Host& host, const wire::AgentLog& m);
  void handle(const fleet::Host& host, const wire::StdinCredit& m);
  void handle(const fleet::Host& host, const wire::ErrorFile& m);
  void handle(const fleet::Host& host, const wire::OutOfMemory& m);

  void handle(const fleet::Host& host, const wire::HostUsed& m);

  // The others go on without the rank: however it ends or has ended, that does not decide the attempt's outcome.
  void do_without(Rank rank) { table_.do_without(rank); }
  // A service on the host has found that the rank has failed.
  void condemn(const fleet::Host& host, const wire::RankFault& m) {
    const TimePoint at = on_our_clock(host, m.at_ns);
    if (m.kind == wire::FaultKind::Aborted) return table_.aborted(m.rank, m.code, m.why, at);
    table_.condemned(m.rank, m.code, m.why, at);
  }

  struct End {
    bool failed_by_itself = false;
    bool was_last = false;  // of the workers that do the job's work
  };
  // The workers are asked to end at the time `from`: one that ends later has not failed by itself.
  void are_to_end(TimePoint from) { to_end_ = from; }
  // The process of a worker has ended.
  [[nodiscard]] End ended(const fleet::Host& host, const wire::ExitedWorker& m);

  // Call when the launcher's reader has taken output. A slow reader stops the flow here: without credit the agents
  // leave the output in the workers' pipes.
  void give_credit();
  // No more output of this attempt comes, and another may follow: returns all outstanding credit to the agents.
  void settle_credit();
  // Held: some agent may have used up its credit, and gets no more until the launcher's reader has taken the pending
  // output.
  report::OutputFlow flow() const;
  const RankTable& table() const { return table_; }

 private:
  struct OfHost {
    bool started = false;         // its workers run
    std::uint64_t owed = 0;       // output bytes for which credit has not been returned
    std::string out_of_memory{};  // evidence for the next worker that fails there
    std::size_t remarks = 0;      // log lines of its agent that were shown
    std::size_t sharing = 1;      // number of hosts that share the output window
  };
  TimePoint on_our_clock(const fleet::Host& host, std::uint64_t agent_ns) const;
  void give_credit(const fleet::Host& host);
  std::uint64_t credit_step(const fleet::Host& host) const;  // bytes owed from which credit is returned

  const AttemptContext& context_;
  TimePoint started_ = Clock::now();
  TimePoint to_end_ = TimePoint::max();  // see are_to_end()
  RankTable table_;
  std::map<HostId, OfHost> hosts_;
};

}  // namespace sml::attempt
