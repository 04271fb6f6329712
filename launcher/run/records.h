// Owns the files that a job writes while it runs and at its end: logs, results, events, timelines, traces, the report;
// and what it opens for its metrics. All but the logs are opened before the job begins; the caller has the logs made
// when workers start. A file that can no longer be written causes one warning, and the job goes on; only a failure of
// the logs is left to the caller (RankLogs::listen()).
#pragma once
#include <memory>
#include <string>
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
#include "launcher/run/watch/file_work.h"
#include "launcher/run/watch/hang_folder.h"
#include "launcher/transport/session/protocol_trace.h"

namespace sml::run {

class Records {
 public:
  // Error (Usage, Config or Io), with the name of the option: a file cannot be written, or another option names it.
  static Result<Records> open(const JobOptions& options, const plan::LaunchPlan& plan);

  // Subscribes to `feed`. The arguments must outlive this; a null `goodput`: it is not known. Files are written on
  // `loop`, without waiting for slow readers of pipes. Does not begin logs() and results(); the caller does.
  void begin(const boost::asio::any_io_executor& loop, report::EventFeed& feed, const report::Goodput* goodput,
             Printer& printer);
  RankLogs& logs() { return logs_; }
  ResultsFile& results() { return results_; }
  // Writes the messages for --trace-protocol; null: the option is not given. Valid after begin().
  transport::ProtocolTrace* protocol_trace() { return protocol_trace_.get(); }
  metrics::Outlets take_metrics() { return std::move(metrics_); }  // to be called once: moves them out
  const std::shared_ptr<const HangFolder>& hang_folder() const { return hang_folder_; }
  // Plans the logs of a further attempt, without a look at the file system. On Error (Usage) there are no logs from
  // then on.
  Result<void> renew_logs(const JobOptions& options, const plan::LaunchPlan& plan);
  // To be called before the job begins again with another plan. Empties the timeline and the events file; a reader of a
  // pipe keeps what it has received. Then does as renew_logs(), with the same error.
  Result<void> start_over(const JobOptions& options, const plan::LaunchPlan& plan);
  bool wants_report() const { return static_cast<bool>(report_file_.fd); }
  // Begins to write; gives up after 10 s with the slow reader of a pipe. To be called once.
  void write_report(std::string text, FileWork& files);
  // After the last event: begins to write --trace and timelines into pipes, then blocks: for the last drawing of the
  // other timelines, up to 10 s, and for what is left of the results, events, protocol and logs, about 1 s for each.
  void finish(FileWork& files, Printer& printer);

 private:
  // A timeline is first drawn after kFirstDrawing, then every kDrawing, and every kIdleDrawing while no events come. A
  // drawing that took long is followed by a pause of kLeisure times as long, so that at most 1/kLeisure of the time
  // goes into drawing.
  static constexpr Duration kFirstDrawing = std::chrono::seconds(2);
  static constexpr Duration kDrawing = std::chrono::seconds(10);
  static constexpr Duration kIdleDrawing = std::chrono::seconds(60);
  static constexpr int kLeisure = 500;

  struct NamedFile {
    std::string path;
    os::UniqueFd fd;
  };
  using RenewedFiles = std::vector<os::RenewedFile>;
  // The state and the thread for drawing timelines while the job runs.
  struct Drawing {
    explicit Drawing(const boost::asio::any_io_executor& loop) : timer(loop), thread(loop) {}
    boost::asio::steady_timer timer;
    std::uint64_t events = 0;  // the number of events at the last drawing
    TimePoint at{};            // of the last drawing
    os::SideThread thread;
  };
  void arm_drawing(Duration after);
  void draw();
  void draw_last(Printer& printer);
  static void write(NamedFile file, std::string text, const std::string& option, FileWork& files);

  RankLogs logs_;
  std::shared_ptr<const HangFolder> hang_folder_;
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
  // Timelines that are replaced at each drawing; shared with the thread that draws.
  std::shared_ptr<RenewedFiles> drawn_files_ = std::make_shared<RenewedFiles>();
  std::unique_ptr<Drawing> drawing_;            // null: no timeline is drawn while the job runs
  std::unique_ptr<report::Timeline> timeline_;  // null: none is asked for
  const report::Goodput* goodput_ = nullptr;
  std::shared_ptr<const os::RenewedFile> trace_file_;  // of --trace; null: none
  std::unique_ptr<report::StartTrace> trace_;
};

}  // namespace sml::run
