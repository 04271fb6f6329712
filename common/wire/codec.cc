#include "common/wire/codec.h"

#include <algorithm>
#include <type_traits>

namespace sml::wire {

namespace {

constexpr std::uint8_t kFirstToLauncher = 64;

template <class Variant>
struct Direction;
template <>
struct Direction<ToAgent> {
  static constexpr std::uint8_t first_type = 1;
  static constexpr std::size_t limit = kMaxToAgent;
};
template <>
struct Direction<ToLauncher> {
  static constexpr std::uint8_t first_type = kFirstToLauncher;
  static constexpr std::size_t limit = kMaxToLauncher;
};

template <class Variant>
std::string encode_variant(const Variant& message) {
  return encode_frame(message, Direction<Variant>::first_type);
}

}  // namespace

std::string encode(const ToAgent& message) { return encode_variant(message); }
std::string encode(const ToLauncher& message) { return encode_variant(message); }

void append_output_head(std::string& out, Rank rank, Stream stream, std::uint64_t at_ns, std::size_t size) {
  constexpr std::uint8_t type = kFirstToLauncher + 4;
  static_assert(std::is_same_v<std::variant_alternative_t<4, ToLauncher>, Output>);
  const std::size_t at = out.size();
  out.append(kFrameHeader, '\0');
  Writer writer(out);
  writer(rank, stream, at_ns, static_cast<std::uint32_t>(size));
  put_header(out, at, type, out.size() - at - kFrameHeader + size);
}

template <class Message>
void Decoder<Message>::feed(std::span<const char> bytes) {
  if (begin_ == buffer_.size()) {
    buffer_.clear();
    begin_ = 0;
  } else if (begin_ > buffer_.size() / 2) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  buffer_.append(bytes.data(), bytes.size());
}

template <class Message>
void Decoder<Message>::feed_in_place(std::span<const char> bytes) {
  in_place_ = std::string_view(bytes.data(), bytes.size());
}

// Moves from in_place_ only the bytes that the frame in the buffer lacks.
template <class Message>
void Decoder<Message>::complete_kept() {
  for (std::size_t wanted = kFrameHeader; !in_place_.empty();) {
    if (kept().size() >= kFrameHeader) wanted = kFrameHeader + payload_length(kept());
    if (kept().size() >= wanted || wanted > kFrameHeader + Direction<Message>::limit) return;
    const std::size_t taken = std::min(wanted - kept().size(), in_place_.size());
    buffer_.append(in_place_.substr(0, taken));
    in_place_.remove_prefix(taken);
  }
}

template <class Message>
Result<std::optional<Message>> Decoder<Message>::next() {
  if (!kept().empty()) complete_kept();
  const bool from_buffer = !kept().empty();
  const std::string_view rest = from_buffer ? kept() : in_place_;
  const std::size_t length = rest.size() < kFrameHeader ? 0 : payload_length(rest);
  if (length > Direction<Message>::limit) return Error(ErrorKind::Protocol, "a message is longer than allowed");
  if (rest.size() >= kFrameHeader) {
    const std::size_t index = payload_type(rest) - Direction<Message>::first_type;
    if (index >= std::variant_size_v<Message>) return Error(ErrorKind::Protocol, "a message has an unknown type");
  }
  if (rest.size() < kFrameHeader + length) {
    if (!from_buffer) {
      buffer_.assign(in_place_);
      begin_ = 0;
      in_place_ = {};
    }
    return std::optional<Message>();
  }
  if (from_buffer) {
    begin_ += kFrameHeader + length;
  } else {
    in_place_.remove_prefix(kFrameHeader + length);
  }
  Result<Message> message =
      decode_payload<Message>(payload_type(rest) - Direction<Message>::first_type, rest.substr(kFrameHeader, length));
  if (!message) return message.error();
  return std::optional<Message>(std::move(*message));
}

template class Decoder<ToAgent>;
template class Decoder<ToLauncher>;

}  // namespace sml::wire
