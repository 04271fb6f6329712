// A byte pipe to the agent of one host. There are five kinds: a local child process, libssh, a command that is called
// like ssh, a batch system's starter, and a connection that the host itself has made.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "common/core/clock.h"
#include "common/core/error.h"

namespace sml::transport {

// The callbacks of a transport. Called on the loop thread, never from within the owner's call into the transport.
class TransportEvents {
 public:
  virtual ~TransportEvents() = default;
  // Progress during the start, for display, as in "waiting for algo-3 (connecting)": "resolving", "connecting",
  // "authenticating", "starting the agent" and the like, or the message of a starter's tool that waits.
  virtual void transport_step(std::string_view step) = 0;
  // The host is this machine: the transport has started nothing and makes no further call. The owner uses
  // AgentLauncher::local_transport() instead.
  virtual void transport_is_local() = 0;
  // Bytes can be sent from now on. `local_address` and `peer_address` are the numeric addresses of the connection as
  // this side sees it; empty if unknown.
  virtual void transport_open(std::string_view local_address, std::string_view peer_address) = 0;
  // Standard output of the far side. The view is valid during the call only.
  virtual void transport_bytes(std::span<const char> bytes) = 0;
  // The last call: the connection could not be made, or has ended. `why.message()` names the step that failed, and
  // contains the end of the far side's standard error if there was any.
  virtual void transport_closed(const Error& why) = 0;
};

// Used on the loop thread; as a rule owned by a ResumableLink. The destructor closes everything at once, without a
// further event; the far side's program then reads the end of its input.
class AgentTransport {
 public:
  virtual ~AgentTransport() = default;
  // Call once. `events` must outlive the transport.
  virtual void start(TransportEvents& events) = 0;
  // Queues bytes for the far side's standard input; never blocks. Ignored after transport_closed.
  virtual void send(std::string bytes) = 0;
  // The same for bytes that outlive the transport, such as the agent image: they are not copied for each host.
  virtual void send_static(std::string_view bytes) { send(std::string(bytes)); }
  // The number of bytes queued and not yet handed to the kernel or library.
  virtual std::size_t unsent() const = 0;
  // After transport_closed: true if the far side's program is known to have ended; false if the connection broke.
  virtual bool far_side_ended() const { return false; }
  // Whether far_side_killed() returns true if a signal has ended the program; else it never does.
  virtual bool sees_kills() const { return false; }
  // After transport_closed: a signal has ended the program. If it was the guardian, its agent may still run.
  virtual bool far_side_killed() const { return false; }
  // After transport_closed: the program has ended with status 0, as an agent does only after its last message.
  virtual bool far_side_ended_well() const { return false; }
  // Whether bytes reach the agent only as long as the process that was started on the far side, the guardian, lives.
  virtual bool ends_with_guardian() const { return false; }
  // For a transport that resumes broken connections by itself: when it last did, and may have sent earlier bytes again.
  // TimePoint::min(): never.
  virtual TimePoint reconnected_at() const { return TimePoint::min(); }
  // Sends the queued bytes, then ends the far side's input. Bytes may still arrive; transport_closed follows.
  virtual void finish() = 0;
};

}  // namespace sml::transport
