#include "launcher/run/watch/progress_watch.h"

#include <algorithm>
#include <utility>

namespace sml::run {

namespace {

constexpr Duration kShortest = std::chrono::milliseconds(10);
constexpr Duration kLongest = std::chrono::seconds(1);

// A twentieth of the shortest limit, so that the granularity is not noticeable.
Duration interval_of(const ProgressOptions& options) {
  Duration least = kLongest * 20;
  const auto consider = [&least](const std::optional<Duration>& limit) {
    if (limit) least = std::min(least, *limit);
  };
  consider(options.warn_silent);
  if (options.watch) consider(options.watch->first);
  if (options.watch) consider(options.watch->every);
  return std::max(kShortest, least / 20);
}

}  // namespace

ProgressWatch::ProgressWatch(const boost::asio::any_io_executor& loop, Deps deps)
    : deps_(deps),
      options_(deps_.options.progress),
      interval_(interval_of(options_)),
      clock_(2 * interval_),
      timer_(loop) {
  if (options_.watch || !deps_.options.restart.progress_file.empty()) goodput_.emplace();
  begin_attempt(deps_.attempt->plan().map);
}

void ProgressWatch::begin_attempt(const plan::JobMap& map) {
  if (options_.warn_silent) silence_.emplace(*options_.warn_silent, map);
  if (options_.watch) lines_.emplace(*options_.watch, map.world_size());
}

void ProgressWatch::begin(report::EventFeed& feed) {
  feed.add(so_far_);
  if (goodput_) feed.add(*goodput_);
  if (!silence_ && !lines_) return;
  feed.add(*this);
  arm_timer();
}

TimePoint ProgressWatch::now() { return clock_.advance(Clock::now(), deps_.attempt->workers().flow()); }

void ProgressWatch::on_event(const report::Event& event) {
  if (const auto* started = std::get_if<report::RankStarted>(&event.what)) {
    if (silence_) silence_->started(started->rank, now());
    if (lines_) lines_->started(started->rank, now());
  } else if (const auto* exited = std::get_if<report::RankExited>(&event.what)) {
    if (silence_) silence_->ended(exited->rank);
    if (lines_) lines_->ended(exited->rank);
  } else if (const auto* spawned = std::get_if<report::RanksAdded>(&event.what)) {
    if (silence_) silence_->grow(spawned->plan->map.world_size());
    if (lines_) lines_->grow(spawned->plan->map.world_size());
  } else if (const auto* again = std::get_if<report::AttemptBegins>(&event.what)) {
    begin_attempt(again->plan->map);
  } else if (const auto* job = std::get_if<report::JobBegins>(&event.what)) {
    begin_attempt(job->plan->map);
  }
}

void ProgressWatch::output(Rank rank, Stream stream, std::string_view bytes) {
  if (silence_) silence_->spoke(rank, now());
  if (!lines_) return;
  const std::optional<report::LineWatch::Match> match = lines_->add(rank, stream, bytes, now());
  if (match) goodput_->progress(match->step, Clock::now(), match->total);
}

void ProgressWatch::file_written(const report::StepNumbers& step) {
  if (goodput_ && !lines_) goodput_->progress(step.step, Clock::now(), step.total);
}

void ProgressWatch::arm_timer() {
  timer_.expires_after(interval_);
  timer_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    look();
    arm_timer();
  });
}

void ProgressWatch::look() {
  const TimePoint at = now();
  if (silence_) {
    const report::SilenceWatch::News news = silence_->on_time(at);
    for (const std::string& sentence : news.sentences) {
      if (deps_.attempt->runs()) deps_.printer.print(sentence);
    }
    if (!news.silent.empty()) act_on(news);
  }
  if (!lines_) return;
  if (std::optional<report::NoProgress> what = lines_->on_time(at))
    deps_.attempt->stop_for_no_progress(std::move(*what));
}

void ProgressWatch::act_on(const report::SilenceWatch::News& news) {
  using report::NoProgress;
  using Whose = report::SilenceWatch::News::Whose;
  if (options_.on_silent == OnSilent::NameThem) return;
  if (options_.on_silent == OnSilent::Report) return deps_.reports.print_while_running("ranks are silent");
  deps_.attempt->stop_for_no_progress(
      {.ranks = news.silent,
       .limit = news.whose == Whose::All ? NoProgress::Limit::SilenceOfAll : NoProgress::Limit::Silence,
       .timeout = *options_.warn_silent,
       .then = options_.on_silent == OnSilent::Stop ? NoProgress::Then::JobEnds : NoProgress::Then::AsAfterFailures});
}

}  // namespace sml::run
