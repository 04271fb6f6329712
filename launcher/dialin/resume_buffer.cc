#include "launcher/dialin/resume_buffer.h"

#include <algorithm>

namespace sml::dialin {

void ResumeBuffer::append(std::string_view frame) {
  sent_.append(frame);
  if (sent_.size() > kMostKept) sent_.forget(sent_.end() - kMostKept);
}

std::optional<std::string_view> ResumeBuffer::unreceived(std::uint64_t place) {
  if (!sent_.acknowledge(place)) return std::nullopt;
  return sent_.from(place);
}

std::optional<std::uint64_t> ResumeBuffer::receipt(TimePoint now) {
  constexpr std::uint64_t kSome = 512;  // bytes
  constexpr Duration kPause = std::chrono::seconds(1);
  const bool has_paused = !receipt_at_ || now - *receipt_at_ >= kPause;
  const std::optional<std::uint64_t> due = received_.receipt(has_paused ? kSome : wire::ReceivedBytes::kReceiptEvery);
  if (due) receipt_at_ = now;
  return due;
}

Duration longest_pause(Duration heartbeat_timeout) {
  constexpr Duration kLongest = std::chrono::seconds(1);
  return std::min(kLongest, heartbeat_timeout / 5);
}

Duration reconnect_limit(Duration took, Duration heartbeat_timeout) {
  constexpr Duration kCall = std::chrono::milliseconds(500);
  return std::min(longest_pause(heartbeat_timeout) + kCall + 2 * took, heartbeat_timeout);
}

}  // namespace sml::dialin
