// Goodput: the share of a job's time that went into steps that counted, and what became of the rest. Pure.
//
// A sign of progress is a line that matches --watch, or a write of --progress-file; it may have a number, the step. In
// each attempt, the time from the first to the last sign is good; before the first sign it is rendezvous; after the
// last sign of an attempt that failed it is lost. If an attempt begins with a step that an earlier attempt had reached,
// it repeats work: the good time of earlier attempts from that step on becomes lost.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "launcher/report/events/event_feed.h"

namespace sml::report {

// The time from the job's start until now, by its use. The parts add up to the whole.
struct GoodputSums {
  Duration good{};
  Duration start{};       // connecting, sending the agent, preparing
  Duration rendezvous{};  // from the start of the workers to the first progress of their attempt
  Duration lost{};        // progress that was repeated, and what followed the last progress of a failed attempt
  Duration teardown{};    // from the stop of an attempt, or the last progress of one that succeeded, to its end
  Duration waiting{};     // between two attempts: backoff, and waiting for hosts
  Duration open{};        // since the last progress of the running attempt: will become good, lost or teardown

  Duration whole() const { return good + start + rendezvous + lost + teardown + waiting + open; }
  double ratio() const;  // of good to the whole; 0 for a job that has just begun
};

class Goodput final : public EventListener {
 public:
  static constexpr std::size_t kMostPoints = 4096;  // of all attempts; longer jobs keep points that are further apart

  void on_event(const Event& event) override;
  // There was progress at `at`; `step` is its number, if it has one. A number that is not above the largest one of this
  // attempt is no new step: several ranks print the same one. `total`: the number of all steps; nullopt: not known.
  // Ignored while no workers run, or while they are being ended.
  void progress(std::optional<std::uint64_t> step, TimePoint at, std::optional<std::uint64_t> total = std::nullopt);

  GoodputSums sums(TimePoint now) const;
  // The next three are nullopt if not known yet.
  std::optional<TimePoint> last_progress() const { return last_progress_; }
  std::optional<std::uint64_t> step() const { return step_; }    // the largest of the last attempt that made progress
  std::optional<std::uint64_t> total() const { return total_; }  // the latest one
  // The time until the last step, at the pace of the running attempt; nullopt: no attempt runs, or the pace or the
  // total is not known.
  std::optional<Duration> remaining(TimePoint now) const;

 private:
  struct Point {
    std::uint64_t step = 0;
    TimePoint at;
  };
  struct Attempt {
    TimePoint began;
    std::optional<TimePoint> started{};  // start of its workers
    std::optional<TimePoint> first{};    // first progress
    std::optional<TimePoint> last{};     // last progress; in over_, the end of its good time
    std::optional<TimePoint> stopped{};  // when the launcher began to end the workers
    std::vector<Point> points{};         // with growing steps and times
  };
  enum class Outcome : std::uint8_t { Runs, Failed, Succeeded };
  static void add(const Attempt& attempt, TimePoint end, Outcome outcome, GoodputSums& sums);
  void close(TimePoint at, Outcome outcome);
  void make_again(std::uint64_t step);
  void thin_out();

  GoodputSums closed_;           // of attempts that are over, without their good time, and of the waits between
  std::vector<Attempt> over_{};  // attempts that are over; `first` to `last` is good time, less what is repeated
  std::optional<Attempt> now_;   // the running attempt; nullopt: none runs
  std::optional<TimePoint> rests_since_;  // the end of the last attempt, while the next is awaited
  std::optional<TimePoint> ended_;
  std::optional<TimePoint> last_progress_;
  std::optional<std::uint64_t> step_;
  std::optional<std::uint64_t> total_;
  std::size_t points_ = 0;
  std::uint32_t stride_ = 1;  // one of so many new steps is kept as a point
  std::uint32_t passed_ = 0;  // new steps since the last one kept
};

// "goodput 83.1 % of 1:02:03: start 0:04, rendezvous 0:20, lost progress 5:00, ...": parts without time are left out.
std::string goodput_text(const GoodputSums& sums);

}  // namespace sml::report
