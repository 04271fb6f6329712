#include "launcher/dialin/messages.h"

#include <array>
#include <utility>

#include "common/wire/bytes.h"

namespace sml::dialin {

namespace {

constexpr std::size_t kHeader = 5;
constexpr std::size_t kMaxRest = std::size_t{1} << 20;  // of decoded bytes that stay in the buffer

template <class Variant>
constexpr std::uint8_t kFirstType = 0;
template <>
constexpr std::uint8_t kFirstType<ToHead> = 1;
template <>
constexpr std::uint8_t kFirstType<ToHost> = 64;

template <class Variant>
std::string encode_variant(const Variant& message) {
  std::string payload;
  wire::Writer writer(payload);
  std::visit([&](const auto& m) { writer(m); }, message);
  std::string out;
  wire::Writer header(out);
  header(static_cast<std::uint32_t>(payload.size()), static_cast<std::uint8_t>(kFirstType<Variant> + message.index()));
  return out + payload;
}

Error nonsense(const char* what) { return Error(ErrorKind::Protocol, what); }

template <class Variant, std::size_t I>
Result<Variant> decode_as(std::string_view payload) {
  std::variant_alternative_t<I, Variant> message{};
  wire::Reader reader(payload);
  reader(message);
  if (!reader.ok() || !reader.at_end()) return nonsense("a message does not have the form that its type asks for");
  return Variant(std::move(message));
}

template <class Variant, std::size_t... I>
Result<Variant> decode_payload(std::size_t index, std::string_view payload, std::index_sequence<I...>) {
  using Decode = Result<Variant> (*)(std::string_view);
  static constexpr std::array<Decode, sizeof...(I)> table = {&decode_as<Variant, I>...};
  return table[index](payload);
}

}  // namespace

std::string encode(const ToHead& message) { return encode_variant(message); }
std::string encode(const ToHost& message) { return encode_variant(message); }

template <class Message>
Result<std::optional<Message>> FrameReader<Message>::next() {
  constexpr std::size_t kTypes = std::variant_size_v<Message>;
  const std::string_view rest = std::string_view(buffer_).substr(begin_);
  if (rest.size() < kHeader) {
    buffer_.erase(0, std::exchange(begin_, 0));
    return std::optional<Message>();
  }
  std::uint32_t length = 0;
  std::uint8_t type = 0;
  wire::Reader header(rest.substr(0, kHeader));
  header(length, type);
  if (length > kMaxPayload) return nonsense("a message is too long");
  const std::size_t index = static_cast<std::size_t>(type) - kFirstType<Message>;
  if (index >= kTypes) return nonsense("a message of a type that does not belong here");
  if (rest.size() - kHeader < length) {
    if (begin_ > kMaxRest) buffer_.erase(0, std::exchange(begin_, 0));
    return std::optional<Message>();
  }
  begin_ += kHeader + length;
  Result<Message> message =
      decode_payload<Message>(index, rest.substr(kHeader, length), std::make_index_sequence<kTypes>());
  if (!message) return message.error();
  return std::optional<Message>(std::move(*message));
}

template class FrameReader<ToHead>;
template class FrameReader<ToHost>;

}  // namespace sml::dialin
