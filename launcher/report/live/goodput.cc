#include "launcher/report/live/goodput.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "launcher/report/live/status_text.h"

namespace sml::report {

namespace {

// Events of other hosts are older than their neighbours.
Duration between(TimePoint from, TimePoint to) { return std::max(to - from, Duration::zero()); }

}  // namespace

double GoodputSums::ratio() const {
  const Duration all = whole();
  return all > Duration::zero() ? in_seconds(good) / in_seconds(all) : 0;
}

void Goodput::on_event(const Event& event) {
  if (std::holds_alternative<JobBegins>(event.what)) {
    now_ = Attempt{.began = now_ ? now_->began : event.at};
  } else if (std::holds_alternative<AttemptBegins>(event.what)) {
    if (rests_since_) closed_.waiting += between(*std::exchange(rests_since_, std::nullopt), event.at);
    now_ = Attempt{.began = event.at};
  } else if (std::holds_alternative<WorkersStart>(event.what)) {
    if (now_) now_->started = std::max(event.at, now_->began);
  } else if (std::holds_alternative<JobStopping>(event.what)) {
    if (now_ && !now_->stopped) now_->stopped = event.at;
  } else if (std::holds_alternative<AttemptFails>(event.what)) {
    close(event.at, Outcome::Failed);
    rests_since_ = event.at;
  } else if (const auto* end = std::get_if<JobEnds>(&event.what)) {
    if (rests_since_) closed_.waiting += between(*std::exchange(rests_since_, std::nullopt), event.at);
    close(event.at, end->exit_code == 0 ? Outcome::Succeeded : Outcome::Failed);
    ended_ = event.at;
  }
}

void Goodput::progress(std::optional<std::uint64_t> step, TimePoint at, std::optional<std::uint64_t> total) {
  if (!now_ || !now_->started || now_->stopped) return;
  at = std::max(at, *now_->started);
  if (!now_->first) now_->first = at;
  now_->last = last_progress_ = at;
  if (!step) return;
  if (total) total_ = total;
  if (now_->points.empty()) {
    make_again(*step);
    step_ = step;
  } else if (*step <= *step_) {
    return;
  }
  step_ = step;
  if (!now_->points.empty() && ++passed_ < stride_) return;
  passed_ = 0;
  now_->points.push_back({*step, at});
  if (++points_ > kMostPoints) thin_out();
}

// Every second point goes: what is lost is then counted from a step earlier. Each attempt keeps its first one.
void Goodput::thin_out() {
  points_ = 0;
  const auto thin = [this](std::vector<Point>& points) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < points.size(); i += 2) points[kept++] = points[i];
    points.resize(kept);
    points_ += kept;
  };
  for (Attempt& attempt : over_) thin(attempt.points);
  thin(now_->points);
  stride_ *= 2;
}

void Goodput::make_again(std::uint64_t step) {
  for (Attempt& attempt : over_) {
    if (attempt.points.empty() || *attempt.last == *attempt.first) continue;
    const TimePoint last = *attempt.last;
    const auto is_kept = [step](const Point& point) { return point.step < step; };
    const auto lost = std::find_if_not(attempt.points.begin(), attempt.points.end(), is_kept);
    if (lost == attempt.points.end()) continue;
    attempt.last = lost == attempt.points.begin() ? *attempt.first : std::prev(lost)->at;
    points_ -= static_cast<std::size_t>(attempt.points.end() - lost);
    attempt.points.erase(lost, attempt.points.end());
    closed_.lost += last - *attempt.last;
  }
}

// Adds the parts of an attempt, but not its good time if it is over.
void Goodput::add(const Attempt& attempt, TimePoint end, Outcome outcome, GoodputSums& sums) {
  const TimePoint stop = std::min(attempt.stopped.value_or(end), end);
  sums.teardown += between(stop, end);
  if (!attempt.started || *attempt.started > stop) {
    sums.start += between(attempt.began, stop);
    return;
  }
  sums.start += between(attempt.began, *attempt.started);
  sums.rendezvous += between(*attempt.started, attempt.first.value_or(stop));
  if (!attempt.first) return;
  const Duration after = between(*attempt.last, stop);
  if (outcome == Outcome::Runs) sums.good += *attempt.last - *attempt.first;
  const bool may_count = outcome == Outcome::Runs && !attempt.stopped;
  Duration& part = may_count ? sums.open : outcome == Outcome::Succeeded ? sums.teardown : sums.lost;
  part += after;
}

void Goodput::close(TimePoint at, Outcome outcome) {
  if (!now_) return;
  add(*now_, at, outcome, closed_);
  if (now_->first) {
    over_.push_back(std::move(*now_));
  }
  now_.reset();
}

std::optional<Duration> Goodput::remaining(TimePoint now) const {
  if (!total_ || !now_ || now_->points.empty()) return std::nullopt;
  if (*step_ >= *total_) return Duration::zero();
  const Point& first = now_->points.front();
  const double took = in_seconds(*now_->last - first.at);
  if (*step_ <= first.step || took <= 0) return std::nullopt;
  constexpr double kLongest = 1e9;  // seconds; a Duration holds some more
  const double whole = static_cast<double>(*total_ - *step_) * took / static_cast<double>(*step_ - first.step);
  const Duration left = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(std::min(whole, kLongest)));
  return between(now, *now_->last + left);
}

GoodputSums Goodput::sums(TimePoint now) const {
  const TimePoint end = ended_.value_or(now);
  GoodputSums out = closed_;
  for (const Attempt& attempt : over_) out.good += *attempt.last - *attempt.first;
  if (now_) add(*now_, end, Outcome::Runs, out);
  if (rests_since_) out.waiting += between(*rests_since_, end);
  return out;
}

std::string goodput_text(const GoodputSums& sums) {
  std::string out = fmt::format("goodput {:.1f} % of {}", sums.ratio() * 100, clock_text(sums.whole()));
  const std::pair<std::string_view, Duration> parts[] = {
      {"start", sums.start},       {"rendezvous", sums.rendezvous},     {"lost progress", sums.lost},
      {"teardown", sums.teardown}, {"waiting for hosts", sums.waiting}, {"since the last step", sums.open}};
  std::string_view before = ": ";
  for (const auto& [name, time] : parts) {
    if (time < std::chrono::milliseconds(500)) continue;
    out += fmt::format("{}{} {}", before, name, clock_text(time + std::chrono::milliseconds(500)));
    before = ", ";
  }
  return out;
}

}  // namespace sml::report
