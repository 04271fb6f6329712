// One end's record of the message stream between a peer and the coordinator, from Welcome on: it keeps the bytes sent
// until the other end acknowledges them, and counts the bytes received. With it the stream goes on over a new
// connection after a break. Both ends have one. Pure.
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
  // The maximum number of bytes kept; older bytes are dropped. It suffices since credit limits the output on its way,
  // and the plan is sent once. If the other end needs bytes that were dropped, the stream cannot go on.
  static constexpr std::size_t kMostKept = std::size_t{24} << 20;

  // Records a frame that the caller sends now or, while there is no connection, when the next one is made.
  void append(std::string_view frame);
  // The bytes from `place` on, which the other end has not received; those before it are dropped. `place` counts bytes
  // from the start of the stream, as Acknowledge::bytes. The view is valid until the next call. Returns nullopt if the
  // bytes are no longer kept or were never sent.
  std::optional<std::string_view> unreceived(std::uint64_t place);
  // The other end has received all bytes before `place`. Returns false if fewer bytes than that have been sent.
  [[nodiscard]] bool acknowledge(std::uint64_t place) { return sent_.acknowledge(place); }
  bool all_acknowledged() const { return sent_.size() == 0; }

  // A whole frame of `size` bytes has been received.
  void add_received(std::size_t size) { received_.add(size); }
  // The number of bytes received so far.
  std::uint64_t received() const { return received_.count(); }
  // Returns the count for an Acknowledge if one is due now, else nullopt. One is due after many bytes; after fewer
  // bytes if the last Acknowledge was at least a second ago, so that the coordinator need not keep the plans of
  // thousands of hosts.
  std::optional<std::uint64_t> receipt(TimePoint now);

 private:
  wire::SentBytes sent_;
  wire::ReceivedBytes received_;
  std::optional<TimePoint> receipt_at_;  // time of the last one
};

// How long a peer is silent at most before it sends Alive. If its connection has broken on the coordinator's side only,
// that send makes the peer notice it.
Duration longest_pause(Duration heartbeat_timeout);

// How long an end waits for a new connection after a break: until the peer has noticed the break and has reconnected.
// `took`: the time that the peer's first connection took, an estimate for the next one. At most `heartbeat_timeout`.
// The time is short, since an end that was killed never comes back.
Duration reconnect_limit(Duration took, Duration heartbeat_timeout);

}  // namespace sml::dialin
