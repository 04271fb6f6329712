// Shows the running job to other programs: metrics at a socket and in a file, notifications, progress. None of them
// affects the job: one that fails causes one warning.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/os/side_thread.h"
#include "launcher/metrics/job_metrics.h"
#include "launcher/metrics/metrics_server.h"
#include "launcher/metrics/outlets.h"
#include "launcher/notify/notifier.h"
#include "launcher/notify/progress_pusher.h"
#include "launcher/options/job_options.h"
#include "launcher/report/events/event_feed.h"
#include "launcher/run/watch/printer.h"
#include "launcher/run/watch/progress_watch.h"
#include "launcher/run/watch/usage_poller.h"

namespace sml::run {

class Observers {
 public:
  static constexpr Duration kFileInterval = std::chrono::seconds(30);  // between two writes of --metrics-file

  // Everything here must outlive this.
  struct Deps {
    const JobOptions& options;
    const ProgressWatch& progress;
    UsagePoller& usage;
    Printer& printer;
  };
  Observers(const boost::asio::any_io_executor& loop, Deps deps);

  // Subscribes to `feed`, which must outlive this.
  void begin(report::EventFeed& feed, metrics::Outlets outlets);
  // After the last event: closes the socket, and begins to write the file once more and to deliver what is left. Does
  // not wait.
  void send_end();
  // Waits briefly until what send_end() has begun is done.
  void finish();

 private:
  void begin_pushes(report::EventFeed& feed);
  void render(metrics::Format format, std::function<void(std::string)> done);
  void renew_file();  // with the usage of a recent scrape, if there was one, as a query is work for every host
  void write_file(std::string text);
  void arm_timer();

  boost::asio::any_io_executor loop_;
  Deps deps_;
  notify::Notifier notifier_;
  std::unique_ptr<notify::ProgressPusher> pusher_;  // null: progress is not known, or no option asks for it
  metrics::JobMetrics metrics_;
  report::LiveUses uses_;                           // the usage of the last query
  std::optional<TimePoint> looked_;                 // the time of that query; nullopt: there was none
  std::uint32_t looked_attempt_ = 0;                // the attempt that ran then
  std::unique_ptr<metrics::MetricsServer> server_;  // null: no socket
  std::shared_ptr<const os::RenewedFile> file_;     // null: no --metrics-file; shared with the side thread
  boost::asio::steady_timer file_timer_;
  bool file_is_written_ = false;  // a write of the file is under way
  bool told_of_file_ = false;     // the user has been warned that the file cannot be written
  os::SideThread writer_;
};

}  // namespace sml::run
