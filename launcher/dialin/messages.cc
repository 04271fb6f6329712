#include "launcher/dialin/messages.h"

#include <utility>

#include "common/wire/frame.h"

namespace sml::dialin {

namespace {

constexpr std::size_t kMaxRest = std::size_t{1} << 20;  // of decoded bytes that stay in the buffer

template <class Variant>
constexpr std::uint8_t kFirstType = 0;
template <>
constexpr std::uint8_t kFirstType<ToCoordinator> = 1;
template <>
constexpr std::uint8_t kFirstType<ToPeer> = 64;

Error nonsense(const char* what) { return Error(ErrorKind::Protocol, what); }

}  // namespace

std::string encode(const ToCoordinator& message) { return wire::encode_frame(message, kFirstType<ToCoordinator>); }
std::string encode(const ToPeer& message) { return wire::encode_frame(message, kFirstType<ToPeer>); }

template <class Message>
Result<std::optional<Message>> FrameReader<Message>::next() {
  constexpr std::size_t kTypes = std::variant_size_v<Message>;
  const std::string_view rest = std::string_view(buffer_).substr(begin_);
  if (rest.size() < wire::kFrameHeader) {
    buffer_.erase(0, std::exchange(begin_, 0));
    buffer_.shrink_to_fit();  // thousands of connections are idle
    return std::optional<Message>();
  }
  const std::size_t length = wire::payload_length(rest);
  if (length > kMaxPayload) return nonsense("a message is too long");
  const std::size_t index = wire::payload_type(rest) - kFirstType<Message>;
  if (index >= kTypes) return nonsense("a message of a type that does not belong here");
  if (rest.size() - wire::kFrameHeader < length) {
    if (begin_ > kMaxRest) buffer_.erase(0, std::exchange(begin_, 0));
    return std::optional<Message>();
  }
  size_ = wire::kFrameHeader + length;
  begin_ += size_;
  Result<Message> message = wire::decode_payload<Message>(index, rest.substr(wire::kFrameHeader, length));
  if (!message) return message.error();
  return std::optional<Message>(std::move(*message));
}

template class FrameReader<ToCoordinator>;
template class FrameReader<ToPeer>;

}  // namespace sml::dialin
