// Watches a job while it runs: its status, its goodput, and whether its ranks print. Feeds the rules of
// launcher/report, which are pure, with output and time. Used on the loop's thread.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/stream.h"
#include "launcher/options/job_options.h"
#include "launcher/report/live/goodput.h"
#include "launcher/report/live/job_progress.h"
#include "launcher/report/live/line_watch.h"
#include "launcher/report/live/silence_watch.h"
#include "launcher/report/live/work_clock.h"

namespace sml::run {

class ProgressWatch final : private report::EventListener {
 public:
  struct Handlers {
    std::function<report::OutputFlow()> flow;             // whether the workers' output is being read
    std::function<void(const std::string&)> print;        // a message about silent ranks
    std::function<void()> report;                         // requests a report of where the ranks are
    std::function<void(report::NoProgress)> no_progress;  // the workers are to be ended; may be called more than once
  };
  // Whether there is a --progress-file.
  enum class File : std::uint8_t { None, Watched };
  ProgressWatch(const boost::asio::any_io_executor& loop, const ProgressOptions& options, File file,
                const plan::JobMap& map, Handlers handlers);  // `options` and `map` must outlive this

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

  const ProgressOptions& options_;
  Handlers handlers_;
  report::JobProgress so_far_;
  std::optional<report::Goodput> goodput_;
  std::optional<report::SilenceWatch> silence_;  // nullopt: no --warn-silent
  std::optional<report::LineWatch> lines_;       // nullopt: no --watch
  Duration interval_;                            // between checks
  report::WorkClock clock_;                      // the time for both rules
  boost::asio::steady_timer timer_;
};

}  // namespace sml::run
