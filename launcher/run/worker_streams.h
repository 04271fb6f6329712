// Passes the workers' output to all parts that show or record it, and the launcher's input to the workers. Used on the
// loop's thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>

#include "common/plan/launch_plan.h"
#include "launcher/attempt/worker_sink.h"
#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"
#include "launcher/report/events/event_feed.h"
#include "launcher/run/console.h"
#include "launcher/run/records.h"
#include "launcher/run/stdin_forwarder.h"
#include "launcher/run/watch/job_control.h"
#include "launcher/run/watch/progress_watch.h"
#include "launcher/run/watch/watched_job.h"

namespace sml::run {

class WorkerStreams final : public attempt::WorkerSink, private StdinForwarder::Sink {
 public:
  // Everything here must outlive this.
  struct Deps {
    const JobOptions& options;
    const WatchedJob& job;
    fleet::Fleet& fleet;
    Console& console;
    Records& records;
    const report::EventFeed& events;
    ProgressWatch& progress;
    JobControl& control;
  };
  WorkerStreams(const boost::asio::any_io_executor& loop, Deps deps);

  // Before the first attempt: gives the launcher's input to those of its ranks that read it.
  void give_input();
  // To be called when the first attempt is over: later attempts receive no input.
  void take_input_back();

  Result<void> complete(const plan::LaunchPlan& plan, Rank first, std::vector<wire::AddWorkers>& messages) override {
    return deps_.records.logs().add(plan, first, deps_.options.output.routes, messages);
  }
  void add_workers(const plan::LaunchPlan& plan, Rank first) override;
  void workers_run() override { stdin_.start(); }
  void worker_output(Rank rank, Stream stream, std::string_view bytes, TimePoint read_at) override;
  void worker_results(Rank rank, std::string_view bytes) override;
  void worker_drained(Rank rank) override;
  void worker_ended(Rank rank) override { stdin_.remove_reader(rank); }
  void input_taken(Rank rank, std::uint64_t bytes) override { stdin_.taken(rank, bytes); }
  std::size_t pending_output() const override {
    return deps_.console.pending() + deps_.records.logs().pending() + deps_.records.results().pending();
  }

 private:
  // StdinForwarder::Sink
  void send_input(Rank rank, const std::string& bytes) override;
  void end_input(Rank rank) override;

  void send_to(Rank rank, const wire::ToAgent& message);

  Deps deps_;
  StdinForwarder stdin_;
};

}  // namespace sml::run
