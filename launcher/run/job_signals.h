// Receives the signals of sml-run and dispatches each: to the workers, to the console, to the status report, or to the
// end of the job.
#pragma once
#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"
#include "launcher/os/last_signals.h"
#include "launcher/report/events/event_feed.h"
#include "launcher/report/live/job_progress.h"
#include "launcher/run/console.h"
#include "launcher/run/own_process.h"

namespace sml::run {

// A signal that may stop the job.
struct Stop {
  std::string sender;  // see StopRule; empty: the signal was sent to this process
  std::string news;    // printed for the user unless empty
  int signo;
};

class JobSignals {
 public:
  // Everything here must outlive this.
  struct Deps {
    const JobOptions& options;
    OwnProcess& process;
    fleet::Fleet& fleet;
    Console& console;
    const report::EventFeed& events;
    const report::JobProgress& progress;
    std::function<void(const Stop& stop)> stop;  // stops the job
  };
  // From here on none of them ends this process, not even when this has gone.
  JobSignals(boost::asio::io_context& loop, Deps job);

  void begin() { await(); }
  void came(int signo) { heed({{}, {}, signo}); }
  // Handles the signal as if the system had delivered it.
  void heed(const Stop& stop);

 private:
  void await();
  void suspend();
  void print_status();

  Deps deps_;
  os::LastSignals signals_;
};

}  // namespace sml::run
