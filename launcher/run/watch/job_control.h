// Serves sml-run ps, status, stop, signal, stacks and logs for the job that runs in this process, by a local socket.
// Used on the loop's thread.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/stream.h"
#include "launcher/control/control_socket.h"
#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"
#include "launcher/report/events/event_feed.h"
#include "launcher/report/live/output_tail.h"
#include "launcher/run/watch/hang_reports.h"
#include "launcher/run/watch/printer.h"
#include "launcher/run/watch/progress_watch.h"
#include "launcher/run/watch/usage_poller.h"
#include "launcher/run/watch/watched_job.h"

namespace sml::run {

class JobControl {
 public:
  // Everything here must outlive this.
  struct Deps {
    const JobOptions& options;
    WatchedJob& job;
    fleet::Fleet& fleet;
    const report::EventFeed& events;
    Printer& printer;
    const ProgressWatch& progress;
    const HangReports& reports;
    UsagePoller& usage;
  };
  JobControl(const boost::asio::any_io_executor& loop, Deps deps);

  // Begins to serve. Error: the job cannot be queried, but runs as usual.
  Result<void> open();
  // A rank has printed `bytes`, for `sml-run logs`.
  void output(Rank rank, Stream stream, std::string_view bytes);
  // Sends the outcome to processes that follow the job; to be called after the last output.
  void send_end(int exit_code, const std::string& verdict) { socket_.send_end(exit_code, verdict); }
  void close() { socket_.close(); }

 private:
  report::JobSummary summary() const;
  std::string status(control::Form form, const report::LiveUses& uses) const;
  Result<std::string> signal(const control::Request& request) const;
  std::string_view tail(Rank rank, Stream stream) const;
  static std::size_t place(Rank rank, Stream stream) {
    return std::size_t{rank.value()} * 2 + (stream == Stream::Stdout ? 0 : 1);
  }

  Deps deps_;
  std::vector<report::OutputTail> tails_;  // two per rank; empty: the job cannot be queried
  control::ControlSocket socket_;
};

}  // namespace sml::run
