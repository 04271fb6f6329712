// The stream of messages between a peer and the coordinator after the peer has been accepted, as one end counts and
// buffers it, so that it can go on over a new connection when one has broken. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/core/clock.h"
#include "common/wire/resumable_stream.h"

namespace sml::dialin {

class ResumeBuffer {
 public:
  // The maximum number of bytes kept: output is limited by the credit that the coordinator has granted, and the plan is
  // sent once. If the other end needs bytes that were dropped, the stream cannot go on.
  static constexpr std::size_t kMostKept = std::size_t{24} << 20;

  // Records a frame that is sent now or, while there is no connection, after the next one is made.
  void append(std::string_view frame);
  // The bytes from `place` on, which the other end has not received; valid until the next call. Returns nullopt if they
  // are no longer kept or were never sent.
  std::optional<std::string_view> unreceived(std::uint64_t place);
  // The other end has received everything before `place`. Returns false if less than that has been sent.
  [[nodiscard]] bool acknowledge(std::uint64_t place) { return sent_.acknowledge(place); }
  bool all_acknowledged() const { return sent_.size() == 0; }

  // A whole frame of `size` bytes has been received.
  void add_received(std::size_t size) { received_.add(size); }
  std::uint64_t received() const { return received_.count(); }
  // Returns the count to acknowledge if an acknowledgement is due: after many bytes, or after some if none was due for
  // a second, so that the coordinator does not keep the plans of thousands of hosts.
  std::optional<std::uint64_t> receipt(TimePoint now);

 private:
  wire::SentBytes sent_;
  wire::ReceivedBytes received_;
  std::optional<TimePoint> receipt_at_;  // time of the last one
};

// The longest time that a peer sends nothing before it sends Alive. If its connection has broken on the coordinator's
// side only, that send makes the peer notice.
Duration longest_pause(Duration heartbeat_timeout);

// How long an end waits for a new connection after a break: until the peer notices and has reconnected, which takes
// about `took`, the time of its first connection. At most `heartbeat_timeout`; a killed end is not waited for any
// longer.
Duration patience_with_break(Duration took, Duration heartbeat_timeout);

}  // namespace sml::dialin
