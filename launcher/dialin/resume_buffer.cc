#include "launcher/dialin/resume_buffer.h"

#include <algorithm>

namespace sml::dialin {

void ResumeBuffer::say(std::string_view frame) {
  said_.append(frame);
  if (said_.size() > kMostKept) said_.forget(said_.end() - kMostKept);
}

std::optional<std::string_view> ResumeBuffer::unheard(std::uint64_t place) {
  if (!said_.acknowledge(place)) return std::nullopt;
  return said_.from(place);
}

std::optional<std::uint64_t> ResumeBuffer::receipt(TimePoint now) {
  constexpr std::uint64_t kSome = 512;  // bytes
  constexpr Duration kPause = std::chrono::seconds(1);
  const bool has_paused = !receipt_at_ || now - *receipt_at_ >= kPause;
  const std::optional<std::uint64_t> due = heard_.receipt(has_paused ? kSome : wire::ReceivedBytes::kReceiptEvery);
  if (due) receipt_at_ = now;
  return due;
}

Duration longest_pause(Duration heartbeat_timeout) {
  constexpr Duration kLongest = std::chrono::seconds(1);
  return std::min(kLongest, heartbeat_timeout / 5);
}

Duration patience_with_break(Duration took, Duration heartbeat_timeout) {
  constexpr Duration kCall = std::chrono::milliseconds(500);
  return std::min(longest_pause(heartbeat_timeout) + kCall + 2 * took, heartbeat_timeout);
}

}  // namespace sml::dialin
