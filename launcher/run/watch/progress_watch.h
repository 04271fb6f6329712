// Watches a job while it runs: its status, its goodput, and whether its ranks print. Feeds the rules of
// launcher/report, which are pure, with output and time. Acts when a limit passes: warns of silent ranks, prints where
// they are, or ends the attempt, by --warn-silent, --on-silent and --watch. Used on the loop's thread.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/stream.h"
#include "launcher/attempt/attempt.h"
#include "launcher/options/job_options.h"
#include "launcher/report/live/goodput.h"
#include "launcher/report/live/job_progress.h"
#include "launcher/report/live/line_watch.h"
#include "launcher/report/live/silence_watch.h"
#include "launcher/report/live/work_clock.h"
#include "launcher/run/watch/hang_reports.h"
#include "launcher/run/watch/printer.h"

namespace sml::run {

class ProgressWatch final : private report::EventListener {
 public:
  // Everything here must outlive this.
  struct Deps {
    const JobOptions& options;
    const std::unique_ptr<attempt::Attempt>& attempt;  // the current one; the first exists already
    HangReports& reports;
    Printer& printer;
  };
  ProgressWatch(const boost::asio::any_io_executor& loop, Deps deps);

  // Subscribes to `feed`, which must outlive this.
  void begin(report::EventFeed& feed);
  // A rank has printed `bytes`.
  void output(Rank rank, Stream stream, std::string_view bytes);
  // Whether a line of this attempt has matched --watch; nullopt without that option.
  std::optional<bool> line_matched() const { return lines_ ? std::optional(lines_->has_matched()) : std::nullopt; }
  const report::JobProgress& so_far() const { return so_far_; }
  // Null: neither --watch nor --progress-file is given, so progress is not known.
  const report::Goodput* goodput() const { return goodput_ ? &*goodput_ : nullptr; }
  // --progress-file has been written, now. Ignored if --watch is given: then only its lines count as progress.
  void file_written(const report::StepNumbers& step);

 private:
  void on_event(const report::Event& event) override;
  void arm_timer();
  void look();
  void act_on(const report::SilenceWatch::News& news);
  TimePoint now();

  void begin_attempt(const plan::JobMap& map);

  Deps deps_;
  const ProgressOptions& options_;
  report::JobProgress so_far_;
  std::optional<report::Goodput> goodput_;
  std::optional<report::SilenceWatch> silence_;  // nullopt: no --warn-silent
  std::optional<report::LineWatch> lines_;       // nullopt: no --watch
  Duration interval_;                            // between checks
  report::WorkClock clock_;                      // the time for both rules
  boost::asio::steady_timer timer_;
};

}  // namespace sml::run
