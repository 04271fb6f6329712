// Decides when progress goes to others: what is new, not too often, less often while it fails. Pure.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "common/core/clock.h"

namespace sml::notify {

class PushMachine {
 public:
  static constexpr Duration kLook = std::chrono::seconds(1);          // between two looks for progress
  static constexpr Duration kLongestPause = std::chrono::minutes(5);  // while it fails

  // `least`: the time between the beginnings of two pushes.
  explicit PushMachine(Duration least) : least_(least), pause_(least) {}

  // Whether a push begins now. `progress` is when there was some last. One at a time: false until ended().
  [[nodiscard]] bool begins(std::optional<TimePoint> progress, TimePoint now) {
    if (under_way_ || !progress || progress == told_ || now < allowed_) return false;
    told_ = progress;
    begun_ = now;
    allowed_ = now + pause_;
    return under_way_ = true;
  }
  enum class Outcome : std::uint8_t { Taken, Failed };
  // The push is over. Returns whether the user is to hear of its failure, which is the case once.
  [[nodiscard]] bool ended(Outcome outcome) {
    under_way_ = false;
    fails_ = outcome == Outcome::Failed;
    pause_ = fails_ ? std::min(2 * pause_, std::max(kLongestPause, least_)) : least_;
    allowed_ = begun_ + pause_;
    return fails_ && !std::exchange(complained_, true);
  }
  // When to ask begins() again.
  TimePoint next_look(TimePoint now) const { return std::max(now + kLook, allowed_); }
  // Whether the end of a job with that progress goes out, too, whenever it comes: not if the last push has failed, as
  // another one that fails would only hold up the end.
  [[nodiscard]] bool tells_end(std::optional<TimePoint> progress) const { return progress && !fails_; }

 private:
  Duration least_;
  Duration pause_;
  bool under_way_ = false;
  bool fails_ = false;
  bool complained_ = false;
  TimePoint begun_{};
  TimePoint allowed_{};
  std::optional<TimePoint> told_{};  // the progress of the last push
};

}  // namespace sml::notify
