// A message as a frame in a byte stream: u32 length of payload (big-endian), u8 type, payload. The messages of one
// direction are a std::variant; the type is the first type of that direction plus the index in the variant. Pure: the
// callers read and write the stream, and check lengths and types.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "common/core/error.h"
#include "common/wire/bytes.h"

namespace sml::wire {

inline constexpr std::size_t kFrameHeader = 5;

// Overwrites the kFrameHeader bytes of `out` from `at` on; `length` is that of the payload, less than 2^32.
inline void put_header(std::string& out, std::size_t at, std::uint8_t type, std::size_t length) {
  for (std::size_t i = 0; i < 4; ++i)
    out[at + i] = static_cast<char>(static_cast<unsigned char>(length >> (24 - 8 * i)));
  out[at + 4] = static_cast<char>(type);
}

// `frame` must have at least kFrameHeader bytes, here and in payload_type().
inline std::size_t payload_length(std::string_view frame) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(frame[i]);
  return length;
}
// Less the first type of the direction, this is the index for decode_payload().
inline std::size_t payload_type(std::string_view frame) { return static_cast<unsigned char>(frame[4]); }

template <class Variant>
std::string encode_frame(const Variant& message, std::uint8_t first_type) {
  std::string out(kFrameHeader, '\0');
  Writer writer(out);
  std::visit([&](const auto& m) { writer(m); }, message);
  put_header(out, 0, static_cast<std::uint8_t>(first_type + message.index()), out.size() - kFrameHeader);
  return out;
}

template <class Variant, std::size_t I>
Result<Variant> decode_as(std::string_view payload) {
  std::variant_alternative_t<I, Variant> message{};
  Reader reader(payload);
  reader(message);
  if (!reader.ok() || !reader.at_end())
    return Error(ErrorKind::Protocol, "a message does not have the form that its type asks for");
  return Variant(std::move(message));
}

// `index`: of the message in the variant, less than the variant's size. The result may hold views of `payload`. Error
// (Protocol) if the payload is not exactly one such message.
template <class Variant>
Result<Variant> decode_payload(std::size_t index, std::string_view payload) {
  using Decode = Result<Variant> (*)(std::string_view);
  static constexpr auto table = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<Decode, sizeof...(I)>{&decode_as<Variant, I>...};
  }
  (std::make_index_sequence<std::variant_size_v<Variant>>());
  return table[index](payload);
}

}  // namespace sml::wire
