// What the workers of one attempt do, as their agents tell it: noted, passed on, and bounded by credit.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/wire/messages.h"
#include "launcher/attempt/attempt_owner.h"
#include "launcher/attempt/rank_table.h"
#include "launcher/attempt/worker_sink.h"
#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"
#include "launcher/report/event_feed.h"
#include "launcher/report/work_clock.h"

namespace sml::attempt {

class Workers {
 public:
  // What is given outlives this; the fleet has its hosts.
  Workers(fleet::Fleet& fleet, const plan::LaunchPlan& plan, const JobOptions& options, const report::EventFeed& events,
          AttemptOwner& owner, WorkerSink& sink);

  // There are ranks behind those that were planned.
  void grow(const plan::LaunchPlan& plan) { table_.grow(plan); }
  // The fleet has it since they run, or again; its window for output is that of one of so many hosts.
  void add(const fleet::Host& host, std::size_t sharing);
  // They start now: nothing that they do happens before.
  void begin(TimePoint started) { started_ = started; }

  // More output may come of a host that is another machine.
  void greet(const fleet::Host& host);
  void handle(const fleet::Host& host, const wire::Started& m);
  void handle(const fleet::Host& host, const wire::Output& m);
  void handle(const fleet::Host& host, const wire::Drained& m);
  void handle(const fleet::Host& host, const wire::AgentLog& m);
  void handle(const fleet::Host& host, const wire::StdinCredit& m);
  void handle(const fleet::Host& host, const wire::ErrorFile& m);
  void handle(const fleet::Host& host, const wire::OutOfMemory& m);

  void handle(const fleet::Host& host, const wire::HostUsed& m);

  // However it ends, or has: the others go on, and the attempt is not judged by it.
  void do_without(Rank rank) { table_.do_without(rank); }
  // A service has found that it failed.
  void condemn(const fleet::Host& host, const wire::RankFault& m) {
    const TimePoint at = on_our_clock(host, m.at_ns);
    if (m.kind == wire::FaultKind::Aborted) return table_.aborted(m.rank, m.code, m.why, at);
    table_.condemned(m.rank, m.code, m.why, at);
  }

  struct End {
    bool failed_by_itself = false;
    bool was_last = false;  // of those that do the job's work
  };
  // They have been asked to: who does so from then on has not failed by itself.
  void are_to_end(TimePoint from) { to_end_ = from; }
  [[nodiscard]] End ended(const fleet::Host& host, const wire::ExitedWorker& m);

  // Our reader has taken something. One that does not keep up stops the flow here: without credit the agents leave the
  // output in the workers' pipes.
  void give_credit();
  // No more output of this attempt comes, and another may follow: its agents get all their credit back.
  void settle_credit();
  // Held: some host may have used up its credit, and gets no more before our reader has taken what is pending.
  report::OutputFlow flow() const;
  const RankTable& table() const { return table_; }

 private:
  struct OfHost {
    bool started = false;
    std::uint64_t owed = 0;       // output bytes for which credit has not been given back
    std::string out_of_memory{};  // evidence that belongs to the next worker that fails there
    std::size_t remarks = 0;      // of its agent, that were shown
    std::size_t sharing = 1;      // hosts, the window for output
  };
  TimePoint on_our_clock(const fleet::Host& host, std::uint64_t agent_ns) const;
  std::uint64_t credit_step(const fleet::Host& host) const;

  fleet::Fleet& fleet_;
  const JobOptions& options_;
  const report::EventFeed& events_;
  AttemptOwner& owner_;
  WorkerSink& sink_;
  TimePoint started_ = Clock::now();
  TimePoint to_end_ = TimePoint::max();
  RankTable table_;
  std::vector<OfHost> hosts_;  // by position in the fleet
};

}  // namespace sml::attempt
