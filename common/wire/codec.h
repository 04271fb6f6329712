// Messages as frames in a byte stream (frame.h). Types below 64 go to the agent, the others to the launcher.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "common/wire/frame.h"
#include "common/wire/messages.h"

namespace sml::wire {

// Payload limits. An agent trusts its launcher, whose Prepare holds whole environments and argument lists; a launcher
// does not trust a host that far.
inline constexpr std::size_t kMaxToAgent = std::size_t{64} << 20;
inline constexpr std::size_t kMaxToLauncher = std::size_t{1} << 20;

std::string encode(const ToAgent& message);
std::string encode(const ToLauncher& message);

// The hot path, which does not build the message: appends the part of an Output frame that precedes its bytes.
void append_output_head(std::string& out, Rank rank, Stream stream, std::uint64_t at_ns, std::size_t size);

// Splits a byte stream into frames, and decodes their messages. Holds at most one frame plus the bytes that feed()
// added.
template <class Message>
class Decoder {
 public:
  void feed(std::span<const char> bytes);
  // The same without copying whole frames: `bytes` must stay valid until next() has returned nullopt.
  void feed_in_place(std::span<const char> bytes);
  // Returns the next whole message, which may hold views of the fed bytes, valid until the decoder is used again;
  // nullopt if more bytes are needed; an error (Protocol) for a frame that is too long, has a type of the other
  // direction, or whose payload does not decode. After an error the decoder must not be used any more.
  Result<std::optional<Message>> next();

 private:
  std::string_view kept() const { return std::string_view(buffer_).substr(begin_); }
  void complete_kept();

  std::string buffer_;
  std::size_t begin_ = 0;      // of the bytes that are not decoded yet
  std::string_view in_place_;  // follows the bytes in the buffer
};

extern template class Decoder<ToAgent>;
extern template class Decoder<ToLauncher>;

}  // namespace sml::wire
