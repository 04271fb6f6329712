// Shows the running job to those outside: metrics at a socket and in a file, notifications, progress. Nothing here
// affects the job: an outlet that fails causes one warning.
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
#include "launcher/report/live/job_progress.h"
#include "launcher/run/watch/usage_poller.h"

namespace sml::run {

class Observers {
 public:
  static constexpr Duration kFileInterval = std::chrono::seconds(30);

  // Everything here must outlive this.
  struct Deps {
    const JobOptions& options;
    const report::JobProgress& progress;
    const report::Goodput* goodput;  // null: not known
    std::function<void(UsagePoller::Done)> use;
    std::function<void(const std::string&)> print;
  };
  Observers(const boost::asio::any_io_executor& loop, Deps job);

  // Subscribes to `feed`, which must outlive this.
  void begin(report::EventFeed& feed, metrics::Outlets outlets);
  // After the last event: closes the socket, and begins to write the file once more and to deliver what is left.
  void tell_end();
  // Waits briefly for that.
  void finish();

 private:
  void begin_pushes(report::EventFeed& feed);
  void render(metrics::Format format, std::function<void(std::string)> done);
  void renew_file();  // with the usage of a recent scrape, if there was one: a look costs every host
  void write_file(std::string text);
  void arm_timer();

  boost::asio::any_io_executor loop_;
  Deps deps_;
  notify::Notifier notifier_;
  std::unique_ptr<notify::ProgressPusher> pusher_;  // null: progress is not known, or told to nobody
  metrics::JobMetrics metrics_;
  report::LiveUses uses_;            // the last that were looked at
  std::optional<TimePoint> looked_;  // nullopt: never
  std::uint32_t looked_attempt_ = 0;
  std::unique_ptr<metrics::MetricsServer> server_;
  std::shared_ptr<const os::RenewedFile> file_;
  boost::asio::steady_timer file_timer_;
  bool file_is_written_ = false;  // now, by the side thread
  bool told_of_file_ = false;     // that it cannot be written
  os::SideThread writer_;
};

}  // namespace sml::run
