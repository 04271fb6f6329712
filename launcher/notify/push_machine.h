// Decides when progress is sent to a receiver: only if it is new, not too often, and less often while sending fails.
// Pure.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "common/core/clock.h"

namespace sml::notify {

class PushMachine {
 public:
  static constexpr Duration kLook = std::chrono::seconds(1);          // least time between two calls of begins()
  static constexpr Duration kLongestPause = std::chrono::minutes(5);  // between two pushes while they fail

  // `least`: the time between the beginnings of two pushes.
  explicit PushMachine(Duration least) : least_(least), pause_(least) {}

  // Returns true if the caller must begin a push now. `progress` is the time of the last progress; nullopt: none yet.
  // Returns false until ended() has been called for the push before.
  [[nodiscard]] bool begins(std::optional<TimePoint> progress, TimePoint now) {
    if (under_way_ || !progress || progress == pushed_ || now < allowed_) return false;
    pushed_ = progress;
    begun_ = now;
    allowed_ = now + pause_;
    return under_way_ = true;
  }
  enum class Outcome : std::uint8_t { Taken, Failed };
  // Records the outcome of the push. Returns true if the caller must report the failure to the user: only for the first
  // failure.
  [[nodiscard]] bool ended(Outcome outcome) {
    under_way_ = false;
    fails_ = outcome == Outcome::Failed;
    pause_ = fails_ ? std::min(2 * pause_, std::max(kLongestPause, least_)) : least_;
    allowed_ = begun_ + pause_;
    return fails_ && !std::exchange(complained_, true);
  }
  // The time for the next call of begins().
  TimePoint next_look(TimePoint now) const { return std::max(now + kLook, allowed_); }
  // Whether the end of a job is sent, too, regardless of the times above. `progress` is as for begins(); without any,
  // the end is not sent. Nor if the last push has failed, as another failure would only delay the end.
  [[nodiscard]] bool tells_end(std::optional<TimePoint> progress) const { return progress && !fails_; }

 private:
  Duration least_;
  Duration pause_;
  bool under_way_ = false;
  bool fails_ = false;
  bool complained_ = false;
  TimePoint begun_{};
  TimePoint allowed_{};
  std::optional<TimePoint> pushed_{};  // the progress of the last push
};

}  // namespace sml::notify
