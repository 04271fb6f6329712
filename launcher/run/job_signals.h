// Receives the signals that are sent to sml-run and acts on each: forwards it to the workers, redraws the console,
// prints the status, suspends the job, or stops it.
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

// A signal that may stop the job, and its origin.
struct Stop {
  std::string sender;  // as for StopRule::heed()
  std::string news;    // a message for the user about the request; empty: none
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
    std::function<void(const Stop& stop)> stop;  // a stop signal has come: decides whether the job stops
  };
  // Takes over the signals: from here on none of them ends this process, not even after this object is destroyed.
  JobSignals(boost::asio::io_context& loop, Deps job);

  void begin() { await(); }  // handles signals from now on
  // Handles the signal as if the system had delivered it: for stops that other hosts or `sml-run stop` request.
  void heed(const Stop& stop);

 private:
  void await();
  void suspend();
  void print_status();

  Deps deps_;
  os::LastSignals signals_;
};

}  // namespace sml::run
