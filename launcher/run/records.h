// The files that a job writes while it runs, and where its metrics go. All are opened before the job begins, and none
// affects its course: a file that can no longer be written causes one warning.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/error.h"
#include "common/os/fd.h"
#include "common/os/side_thread.h"
#include "common/plan/launch_plan.h"
#include "launcher/metrics/outlets.h"
#include "launcher/options/job_options.h"
#include "launcher/os/out_stream.h"
#include "launcher/os/renewed_file.h"
#include "launcher/report/events/event_feed.h"
#include "launcher/report/events/event_lines.h"
#include "launcher/report/events/start_trace.h"
#include "launcher/report/events/timeline.h"
#include "launcher/report/live/goodput.h"
#include "launcher/run/rank_logs.h"
#include "launcher/run/results_file.h"
#include "launcher/run/watch/hang_folder.h"
#include "launcher/transport/session/protocol_trace.h"

namespace sml::run {

class Records {
 public:
  using Print = std::function<void(const std::string& warning)>;

  // Error (Usage, Config or Io) if a file cannot be written; names its option.
  static Result<Records> open(const JobOptions& options, const plan::LaunchPlan& plan);

  // Subscribes to `feed`, which must outlive this, as must `goodput`; null: it is not known. Files are written on
  // `loop`, without waiting for slow readers of pipes.
  void begin(const boost::asio::any_io_executor& loop, report::EventFeed& feed, const report::Goodput* goodput,
             const Print& print);
  RankLogs& logs() { return logs_; }
  ResultsFile& results() { return results_; }
  // Writes the messages for --trace-protocol; null: none. Valid after begin().
  transport::ProtocolTrace* protocol_trace() { return protocol_trace_.get(); }
  metrics::Outlets take_metrics() { return std::move(metrics_); }
  const HangFolder& hang_folder() const { return hang_folder_; }
  // Plans the logs of a further attempt. On Error (Usage or Config) the files cannot be made, and there are no logs
  // from then on.
  Result<void> renew_logs(const JobOptions& options, const plan::LaunchPlan& plan);
  // To be called before the job begins again with another plan. Discards what was recorded so far, as far as a reader
  // of a pipe has not received it. Error (Usage or Config), as above.
  Result<void> start_over(const JobOptions& options, const plan::LaunchPlan& plan);
  bool wants_report() const { return static_cast<bool>(report_file_.fd); }
  void write_report(std::string_view text, const Print& print);
  // After the last event: draws the timeline for the last time and waits briefly for slow readers.
  void finish(const Print& print);

 private:
  // A timeline is first drawn after kFirstDrawing, then each kDrawing, but never so often that it would take more than
  // a part in kLeisure of the time, and each kIdleDrawing while nothing happens.
  static constexpr Duration kFirstDrawing = std::chrono::seconds(2);
  static constexpr Duration kDrawing = std::chrono::seconds(10);
  static constexpr Duration kIdleDrawing = std::chrono::seconds(60);
  static constexpr int kLeisure = 500;

  struct NamedFile {
    std::string path;
    os::UniqueFd fd;
  };
  using RenewedFiles = std::vector<os::RenewedFile>;
  // Draws timelines while the job runs.
  struct Drawing {
    explicit Drawing(const boost::asio::any_io_executor& loop) : timer(loop), thread(loop) {}
    boost::asio::steady_timer timer;
    std::uint64_t events = 0;  // had come by the last drawing
    TimePoint at{};            // of that
    os::SideThread thread;
  };
  void arm_drawing(Duration after);
  void draw();
  void draw_last(const Print& print);
  static void write(const NamedFile& file, std::string_view text, const std::string& option, const Print& print);

  RankLogs logs_;
  HangFolder hang_folder_;
  NamedFile report_file_;
  ResultsFile results_;
  metrics::Outlets metrics_;
  os::UniqueFd events_file_;
  std::unique_ptr<os::OutStream> events_stream_;
  std::unique_ptr<report::EventLines> events_;
  os::UniqueFd protocol_file_;
  std::unique_ptr<os::OutStream> protocol_stream_;
  std::unique_ptr<transport::ProtocolTrace> protocol_trace_;
  std::vector<NamedFile> timeline_files_;  // pipes and the like, which are drawn at the end only
  std::shared_ptr<RenewedFiles> drawn_files_ = std::make_shared<RenewedFiles>();
  std::unique_ptr<Drawing> drawing_;
  std::unique_ptr<report::Timeline> timeline_;
  const report::Goodput* goodput_ = nullptr;
  std::shared_ptr<const os::RenewedFile> trace_file_;  // null: none
  std::unique_ptr<report::StartTrace> trace_;
};

}  // namespace sml::run
