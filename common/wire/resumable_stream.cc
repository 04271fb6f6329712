#include "common/wire/resumable_stream.h"

#include <algorithm>

namespace sml::wire {

namespace {
constexpr std::size_t kLittle = std::size_t{64} << 10;  // bytes; a busy stream would grow again at once
}

char* SentBytes::extend(std::size_t size) {
  const std::size_t before = kept_.size();
  kept_.resize(before + size);
  return kept_.data() + before;
}

std::optional<std::string_view> SentBytes::from(std::uint64_t place) const {
  if (place < begin_ || place > end()) return std::nullopt;
  return std::string_view(kept_).substr(gone_ + static_cast<std::size_t>(place - begin_));
}

bool SentBytes::acknowledge(std::uint64_t place) {
  if (place > end()) return false;
  forget(place);
  return true;
}

void SentBytes::forget(std::uint64_t place) {
  if (place <= begin_) return;
  const std::uint64_t until = std::min(place, end());
  gone_ += static_cast<std::size_t>(until - begin_);
  begin_ = until;
  if (gone_ <= kept_.size() / 2) return;
  kept_.erase(0, gone_);
  gone_ = 0;
  if (kept_.capacity() <= kLittle) kept_.shrink_to_fit();  // a coordinator has thousands of idle streams
}

std::optional<std::uint64_t> ReceivedBytes::receipt(std::uint64_t least) {
  if (count_ - acknowledged_ < least) return std::nullopt;
  acknowledged_ = count_;
  return acknowledged_;
}

bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace sml::wire
