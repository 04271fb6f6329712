// The signals that sml-run gets, and what each is for: the workers, this process, people, or the end of the job.
#pragma once
#include <functional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"
#include "launcher/report/event_feed.h"
#include "launcher/report/job_progress.h"
#include "launcher/run/console.h"

namespace sml::run {

class JobSignals {
 public:
  // All of it outlives this.
  struct Job {
    const JobOptions& options;
    fleet::Fleet& fleet;
    Console& console;
    const report::EventFeed& events;
    const report::JobProgress& progress;
    std::function<void(int signo)> stop;  // the job, as that signal does
  };
  // From here on none of them ends this process.
  JobSignals(boost::asio::io_context& loop, Job job);

  void begin() { await(); }
  // As if it had come from the system.
  void came(int signo);

 private:
  void await();
  void suspend();
  void print_status();

  Job job_;
  boost::asio::signal_set signals_;
};

}  // namespace sml::run
