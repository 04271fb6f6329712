// Goodput: the share of a job's time that went into steps that counted, and what became of the rest. Pure.
//
// Steps are known by their progress: lines that match --watch, or writes of --progress-file. Good is the time from the
// first to the last progress of each attempt, less what a later attempt made again: where progress has a number, its
// step, all that earlier attempts did from the step on with which an attempt begins. The time before the first progress
// of an attempt counts as its rendezvous, all that follows the last one of an attempt that failed as lost.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "launcher/report/events/event_feed.h"

namespace sml::report {

// The time from the job's begin until now, by its use. The parts add up to the whole.
struct GoodputSums {
  Duration good{};
  Duration start{};       // connecting, sending the agent, preparing
  Duration rendezvous{};  // from the start of the workers to the first progress of their attempt
  Duration lost{};        // progress that was made again, and what followed the last progress of a failed attempt
  Duration teardown{};    // from the stop of an attempt, or the last progress of one that succeeded, to its end
  Duration waiting{};     // between two attempts: backoff, and waiting for hosts
  Duration open{};        // since the last progress of the attempt that runs: it will be good, lost or teardown

  Duration whole() const { return good + start + rendezvous + lost + teardown + waiting + open; }
  double ratio() const;  // of good to the whole; 0 for a job that has just begun
};

class Goodput final : public EventListener {
 public:
  static constexpr std::size_t kMostPoints = 4096;  // kept of all attempts; further apart in longer jobs

  void on_event(const Event& event) override;
  // There was progress; `step` is its number, if it has one. A number that is no larger than one of the same attempt
  // before it, as ranks print them one after the other, is progress of the same step.
  // `total`: how many steps there are to be.
  void progress(std::optional<std::uint64_t> step, TimePoint at, std::optional<std::uint64_t> total = std::nullopt);

  GoodputSums sums(TimePoint now) const;
  std::optional<TimePoint> last_progress() const { return last_progress_; }
  std::optional<std::uint64_t> step() const { return step_; }    // the largest of the last attempt that made progress
  std::optional<std::uint64_t> total() const { return total_; }  // as said last
  // Until the last step, at the pace of the attempt that runs; nullopt: no attempt runs, or the pace or the total is
  // not known.
  std::optional<Duration> remaining(TimePoint now) const;

 private:
  struct Point {
    std::uint64_t step = 0;
    TimePoint at;
  };
  struct Attempt {
    TimePoint began;
    std::optional<TimePoint> started{};  // its workers
    std::optional<TimePoint> first{};    // progress
    std::optional<TimePoint> last{};
    std::optional<TimePoint> stopped{};
    std::vector<Point> points{};  // with growing steps and times
  };
  enum class Outcome : std::uint8_t { Runs, Failed, Succeeded };
  static void add(const Attempt& attempt, TimePoint end, Outcome outcome, GoodputSums& sums);
  void close(TimePoint at, Outcome outcome);
  void make_again(std::uint64_t step);
  void thin_out();

  GoodputSums closed_;           // of attempts that are over, less their good time, and of the rests between them
  std::vector<Attempt> over_{};  // with the good time that is left of each: first to last
  std::optional<Attempt> now_;
  std::optional<TimePoint> rests_since_;
  std::optional<TimePoint> ended_;
  std::optional<TimePoint> last_progress_;
  std::optional<std::uint64_t> step_;
  std::optional<std::uint64_t> total_;
  std::size_t points_ = 0;
  std::uint32_t stride_ = 1;  // a point is kept for each so many new steps
  std::uint32_t passed_ = 0;  // new steps since the last one kept
};

// "goodput 83.1 % of 1:02:03: start 0:04, rendezvous 0:20, lost progress 5:00, ...": parts without time are left out.
std::string goodput_text(const GoodputSums& sums);

}  // namespace sml::report
