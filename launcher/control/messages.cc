#include "launcher/control/messages.h"

#include "common/wire/frame.h"

namespace sml::control {

namespace {

constexpr std::uint8_t kFirstRequest = 1;
constexpr std::uint8_t kFirstAnswer = 64;

Error malformed() { return Error(ErrorKind::Protocol, "what came is no message of sml-run"); }

// The payload of a complete frame; nullopt: the frame is incomplete.
Result<std::optional<std::string_view>> whole_payload(std::string_view buffer, std::size_t limit) {
  if (buffer.size() < wire::kFrameHeader) return std::optional<std::string_view>();
  const std::size_t length = wire::payload_length(buffer);
  if (length > limit) return malformed();
  if (buffer.size() < wire::kFrameHeader + length) return std::optional<std::string_view>();
  return std::optional(buffer.substr(wire::kFrameHeader, length));
}

bool is_known(const Request& r) { return r.topic <= Topic::Stacks && r.form <= Form::Json && r.follow <= Lasts::Yes; }

bool is_sound(const Answer& answer) {
  const auto* output = std::get_if<Output>(&answer);
  return output == nullptr || output->stream == Stream::Stdout || output->stream == Stream::Stderr;
}

}  // namespace

std::string encode(const Request& request) { return wire::encode_frame(std::variant<Request>(request), kFirstRequest); }
std::string encode(const Answer& answer) { return wire::encode_frame(answer, kFirstAnswer); }

std::string output_head(Rank rank, Stream stream, std::size_t size) {
  std::string out = encode(Output{rank, stream, {}});
  out.resize(out.size() - sizeof(std::uint32_t));
  wire::Writer writer(out);
  writer(static_cast<std::uint32_t>(size));
  wire::put_header(out, 0, static_cast<std::uint8_t>(out[4]), out.size() - wire::kFrameHeader + size);
  return out;
}

Result<std::optional<Request>> take_request(std::string& buffer) {
  const Result<std::optional<std::string_view>> payload = whole_payload(buffer, kMaxRequest);
  if (!payload) return payload.error();
  if (!*payload) return std::optional<Request>();
  if (wire::payload_type(buffer) != kFirstRequest) return malformed();
  std::uint32_t version = 0;
  wire::Reader reader(**payload);
  reader(version);
  if (reader.ok() && version != kVersion) {
    return Error(ErrorKind::Protocol,
                 "the job's sml-run is " SML_VERSION " and uses another version of the protocol; use that one");
  }
  Result<std::variant<Request>> request = wire::decode_payload<std::variant<Request>>(0, **payload);
  if (!request || !is_known(std::get<0>(*request))) return malformed();
  buffer.erase(0, wire::kFrameHeader + (*payload)->size());
  return std::optional(std::get<0>(std::move(*request)));
}

Result<std::optional<Answer>> take_answer(std::string& buffer, std::size_t longest) {
  const Result<std::optional<std::string_view>> payload = whole_payload(buffer, longest);
  if (!payload) return payload.error();
  if (!*payload) return std::optional<Answer>();
  const std::size_t type = wire::payload_type(buffer);
  if (type < kFirstAnswer || type >= kFirstAnswer + std::variant_size_v<Answer>) return malformed();
  Result<Answer> answer = wire::decode_payload<Answer>(type - kFirstAnswer, **payload);
  if (!answer || !is_sound(*answer)) return malformed();
  buffer.erase(0, wire::kFrameHeader + (*payload)->size());
  return std::optional(std::move(*answer));
}

}  // namespace sml::control
