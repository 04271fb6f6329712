// Receives the signals that are sent to sml-run and acts on each: forwards it to the workers, redraws the status line,
// prints the table of hosts and ranks, suspends the job and then this process, or has its owner stop the job. Changes
// how this process treats these signals. Used on the loop's thread.
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

// A signal that has arrived, and its sender; not only a stop signal.
struct Stop {
  // "process PID", "the kernel", a host or a command; empty: unknown. One that sends a stop again may insist on it: see
  // os::StopRule.
  std::string sender;
  std::string news;  // for a stop: a message for the user about the request; empty: none
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
    const report::EventFeed& events;  // receives SignalCame for each signal that does more than redraw the status line
    const report::JobProgress& progress;
    // Called for each stop signal that is neither forwarded nor the status signal; decides what it does.
    std::function<void(const Stop& stop)> stop;
  };
  // Takes over the stop signals (not SIGHUP if it is ignored), SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP, those that
  // options forward and the one for the status. From here on none of these ends this process, not even after this
  // object is destroyed; one that has no use is dropped.
  JobSignals(boost::asio::io_context& loop, Deps job);

  void begin() { await(); }  // handles signals from now on
  // Handles a signal: each that the system delivers, and the stops that other hosts or `sml-run stop` request.
  void heed(const Stop& stop);

 private:
  void await();
  void suspend();
  void print_status();

  Deps deps_;
  os::LastSignals signals_;
};

}  // namespace sml::run
