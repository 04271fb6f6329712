#include "launcher/agent/mpi/pmix_frames.h"

#include "common/wire/frame.h"

namespace sml::agent::pmix {

namespace {

constexpr std::uint8_t kFirstToHelper = 1;
constexpr std::uint8_t kFirstFromHelper = 16;

}  // namespace

std::string encode(const ToHelper& message) { return wire::encode_frame(message, kFirstToHelper); }

Result<std::optional<FromHelper>> Decoder::next() {
  const std::string_view rest = std::string_view(buffer_).substr(begin_);
  if (rest.size() >= wire::kFrameHeader) {
    const std::size_t length = wire::payload_length(rest);
    const std::size_t index = wire::payload_type(rest) - kFirstFromHelper;
    if (length > kMaxFromHelper || index >= std::variant_size_v<FromHelper>) {
      return Error(ErrorKind::Protocol, "sent what it never sends");
    }
    if (rest.size() - wire::kFrameHeader >= length) {
      Result<FromHelper> message = wire::decode_payload<FromHelper>(index, rest.substr(wire::kFrameHeader, length));
      if (!message) return message.error();
      begin_ += wire::kFrameHeader + length;
      return std::optional(std::move(*message));
    }
  }
  buffer_.erase(0, begin_);
  begin_ = 0;
  return std::optional<FromHelper>();
}

}  // namespace sml::agent::pmix
