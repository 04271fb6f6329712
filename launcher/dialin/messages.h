// The messages between a peer and the coordinator, as frames in a byte stream (common/wire/frame.h). Pure. They come
// over a connection on which both sides have proved the job's key, and are bounded and checked all the same.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "common/core/error.h"
#include "launcher/dialin/settings.h"
#include "launcher/plan/host_share.h"

namespace sml::dialin {

inline constexpr std::uint32_t kProtocolVersion = 7;
inline constexpr std::uint32_t kAnyPlace = 0xffffffff;            // among the hosts: the head is to choose one
inline constexpr std::size_t kMaxPiece = std::size_t{256} << 10;  // of bytes from or to an agent in one frame
inline constexpr std::size_t kMaxPayload = kMaxPiece + 64;        // of any frame

// Whether a host has a plan of the job. One without a plan calls only to report the reason, in place of its agent.
enum class Calls : std::uint8_t { WithPlan, ToSayWhyNot };

// First message of a peer: its identity, and what it assumes about the job.
struct Introduction {
  std::uint32_t version = kProtocolVersion;
  std::string job;            // name of the job; may be empty
  std::uint32_t attempt = 0;  // attempt of the job, counted by the platform
  std::string build;          // of sml-run
  Terms terms{};              // settings that must equal the coordinator's
  std::uint32_t index = 0;    // its place among the hosts of the job, or kAnyPlace
  std::string host;           // the name that belongs to that place; empty for kAnyPlace
  Calls calls = Calls::WithPlan;
  std::uint32_t wished = kAnyPlace;  // of kAnyPlace: which it would like to have
  plan::HostShare share{};           // where each host says its own

  void fields(auto& archive) { archive(version, job, attempt, build, terms, index, host, calls, wished, share); }
  bool operator==(const Introduction&) const = default;
};

// Why a host is not let in.
enum class Reason : std::uint8_t {
  Version,      // another protocol version
  Build,        // another build of sml-run
  Job,          // it belongs to another job
  Attempt,      // it belongs to another attempt
  UnknownHost,  // the job has no such host
  Twice,        // that host is here already
  Plan,         // its settings of the job differ
  Address,      // it calls from an address that is not one of the host that it claims to be
  Ending,       // the job is ending
  Full,         // every place is taken
  Gone,         // it reconnects after it has been given up
};

struct Welcome {
  std::uint32_t place = 0;       // the host's, among those of the job
  std::uint32_t hosts = 0;       // so many the job has
  std::string ticket = {};       // by which the head knows it again when it comes back
  plan::HostShares shares = {};  // of all, where each host has said its own, and the job has been planned

  void fields(auto& archive) { archive(place, hosts, ticket, shares); }
  bool operator==(const Welcome&) const = default;
};
// First message on a new connection of a peer whose earlier connection has broken: the stream continues here.
struct Reconnect {
  std::string ticket;
  std::uint64_t heard = 0;  // Heard::bytes

  void fields(auto& archive) { archive(ticket, heard); }
  bool operator==(const Reconnect&) const = default;
};
// Answer to Reconnect. The bytes that the peer has not received follow.
struct Resumed {
  std::uint64_t heard = 0;  // Heard::bytes

  void fields(auto& archive) { archive(heard); }
  bool operator==(const Resumed&) const = default;
};
// Acknowledgement: the number of bytes received in frames after Introduction or Welcome. The sender need not keep them
// any longer (resume_buffer.h).
struct Acknowledge {
  std::uint64_t bytes = 0;

  void fields(auto& archive) { archive(bytes); }
  bool operator==(const Acknowledge&) const = default;
};
struct Refused {
  Reason reason = Reason::Version;
  std::uint32_t attempt = 0;  // the coordinator's
  std::string text;           // a clause for people

  void fields(auto& archive) { archive(reason, attempt, text); }
  bool operator==(const Refused&) const = default;
};
// Start the agent; it opens with this mark (wire/handshake.h).
struct Begin {
  std::string mark;

  void fields(auto& archive) { archive(mark); }
  bool operator==(const Begin&) const = default;
};
// A part of the agent's output or input.
struct Bytes {
  std::string bytes;

  void fields(auto& archive) { archive(bytes); }
  bool operator==(const Bytes&) const = default;
};
// The agent's input ends here.
struct EndInput {
  void fields(auto&) {}
  bool operator==(const EndInput&) const = default;
};
// The agent has ended, or could not be started.
struct AgentEnded {
  std::string text;
  std::uint8_t kind = static_cast<std::uint8_t>(ErrorKind::Lost);  // an ErrorKind: decides the job's exit status

  void fields(auto& archive) { archive(text, kind); }
  bool operator==(const AgentEnded&) const = default;
};
// The host received a stop signal: the coordinator is to act as if it had received that signal itself.
struct StopAsked {
  std::uint8_t signo = 0;

  void fields(auto& archive) { archive(signo); }
  bool operator==(const StopAsked&) const = default;
};
// Heartbeat, sent now and then.
struct Alive {
  void fields(auto&) {}
  bool operator==(const Alive&) const = default;
};
// Last message: the outcome of the job.
struct JobEnd {
  std::uint8_t exit_code = 0;
  std::string text;     // in words
  std::string failure;  // for the failure file of each host; empty: none

  void fields(auto& archive) { archive(exit_code, text, failure); }
  bool operator==(const JobEnd&) const = default;
};

using ToCoordinator = std::variant<Introduction, Bytes, AgentEnded, StopAsked, Reconnect, Acknowledge, Alive>;
using ToPeer = std::variant<Welcome, Refused, Begin, Bytes, EndInput, Alive, JobEnd, Resumed, Acknowledge>;

std::string encode(const ToCoordinator& message);
std::string encode(const ToPeer& message);

// Calls `send` with each piece of `bytes` that fits into a message.
template <class Send>
void send_in_pieces(std::string_view bytes, Send send) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kMaxPiece))) {
    send(Bytes{std::string(bytes.substr(0, kMaxPiece))});
  }
}

// Cuts a byte stream into messages. Holds at most one frame plus what feed() added.
template <class Message>
class FrameReader {
 public:
  void feed(std::span<const char> bytes) { buffer_.append(bytes.data(), bytes.size()); }
  // The next whole message; nullopt if more bytes are needed. Error (Protocol): a frame is too long, of a type that is
  // not expected here, or its payload does not decode. After an error the stream is unusable.
  Result<std::optional<Message>> next();
  // The size in bytes of the last message's frame.
  std::size_t size() const { return size_; }

 private:
  std::string buffer_;
  std::size_t begin_ = 0;  // start of the bytes that are not decoded yet
  std::size_t size_ = 0;
};

extern template class FrameReader<ToCoordinator>;
extern template class FrameReader<ToPeer>;

}  // namespace sml::dialin
