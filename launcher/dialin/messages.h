// The messages between a peer and the coordinator, as frames in a byte stream (common/wire/frame.h). Pure. Both sides
// of the connection have proved the job's key; the messages are bounded and checked nevertheless.
//
// A peer sends Introduction, and the coordinator answers Welcome or Refused. Begin starts the agent, whose input and
// output both sides carry as Bytes. JobEnd is last. After a break the peer sends Reconnect on a new connection, the
// coordinator answers Resumed or Refused, and the stream goes on.
//
// The calls of a step (step/step_caller.h) use some of these messages in another way: no Welcome is sent, a Begin
// carries the command line to run, and a JobEnd dismisses the host.
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
inline constexpr std::uint32_t kAnyPlace = 0xffffffff;            // no place: the coordinator is to choose one
inline constexpr std::size_t kMaxPiece = std::size_t{256} << 10;  // of bytes from or to an agent in one frame
inline constexpr std::size_t kMaxPayload = kMaxPiece + 64;        // of any frame

// Whether a host has a plan of the job. A host without one calls only to report the reason: it starts no agent, and
// sends the reason as AgentEnded.
enum class Calls : std::uint8_t { WithPlan, ToSayWhyNot };

// First message of a peer: its identity, and what it assumes about the job. The coordinator refuses it if that differs.
struct Introduction {
  std::uint32_t version = kProtocolVersion;
  std::string job;             // name of the job; may be empty
  std::uint32_t attempt = 0;   // attempt of the job, counted by the platform
  std::string build;           // of sml-run
  JobSettings job_settings{};  // settings that must equal the coordinator's
  std::uint32_t index = 0;     // its place among the hosts of the job, or kAnyPlace
  std::string host;            // the name that belongs to that place; empty for kAnyPlace
  Calls calls = Calls::WithPlan;
  std::uint32_t preferred = kAnyPlace;  // if `index` is kAnyPlace: the place that it prefers; kAnyPlace: none
  plan::HostShare share{};              // its Settings::share; the default where it has none

  void fields(auto& archive) {
    archive(version, job, attempt, build, job_settings, index, host, calls, preferred, share);
  }
  bool operator==(const Introduction&) const = default;
};

// Why a host is not let in.
enum class Reason : std::uint8_t {
  Version,      // another protocol version
  Build,        // another build of sml-run
  Job,          // it belongs to another job
  Attempt,      // it belongs to another attempt; see Refused::attempt
  UnknownHost,  // the job has no such host
  Twice,        // that host is here already
  Plan,         // its settings of the job differ
  Address,      // it calls from an address that is not one of the host that it claims to be
  Ending,       // the job is ending
  Full,         // every place is taken
  Gone,         // it reconnects, and the coordinator has given it up or lacks bytes of the stream
};

// The peer is let in.
struct Welcome {
  std::uint32_t place = 0;       // the peer's, among the hosts of the job
  std::uint32_t hosts = 0;       // the number of hosts of the job
  std::string ticket = {};       // a secret by which the coordinator recognizes it when it reconnects
  plan::HostShares shares = {};  // of all hosts, by place; empty: all are alike, or the job has no plan yet

  void fields(auto& archive) { archive(place, hosts, ticket, shares); }
  bool operator==(const Welcome&) const = default;
};
// First message on a new connection of a peer whose earlier connection has broken: the stream continues here.
struct Reconnect {
  std::string ticket;          // of Welcome
  std::uint64_t received = 0;  // what the peer has received, counted as Acknowledge::bytes

  void fields(auto& archive) { archive(ticket, received); }
  bool operator==(const Reconnect&) const = default;
};
// Answer to Reconnect. The bytes that the peer has not received follow.
struct Resumed {
  std::uint64_t received = 0;  // what the coordinator has received, counted as Acknowledge::bytes

  void fields(auto& archive) { archive(received); }
  bool operator==(const Resumed&) const = default;
};
// Acknowledgement: the number of bytes that the sender of this message has received in frames since Welcome, over all
// connections. The other end need not keep them any longer (resume_buffer.h).
struct Acknowledge {
  std::uint64_t bytes = 0;

  void fields(auto& archive) { archive(bytes); }
  bool operator==(const Acknowledge&) const = default;
};
// The peer is not let in. The coordinator ends the stream after it.
struct Refused {
  Reason reason = Reason::Version;
  std::uint32_t attempt = 0;  // the coordinator's
  std::string text;           // the reason, for people, to be put behind a colon: "it belongs to another job"

  void fields(auto& archive) { archive(reason, attempt, text); }
  bool operator==(const Refused&) const = default;
};
// Asks the peer to start its agent.
struct Begin {
  std::string mark;  // begins the agent's output (wire/handshake.h); in a call of a step: the command line for /bin/sh

  void fields(auto& archive) { archive(mark); }
  bool operator==(const Begin&) const = default;
};
// A part of the agent's output (from the peer) or input (from the coordinator).
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
  std::string text;  // the reason, for people; in a call of a step empty if it ended with status 0
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
// Heartbeat, sent by both sides. It has no answer.
struct Alive {
  void fields(auto&) {}
  bool operator==(const Alive&) const = default;
};
// Last message of the coordinator: the job outcome.
struct JobEnd {
  std::uint8_t exit_code = 0;
  std::string text;     // the outcome, for people
  std::string failure;  // for the failure file of each host; empty: none

  void fields(auto& archive) { archive(exit_code, text, failure); }
  bool operator==(const JobEnd&) const = default;
};

using ToCoordinator = std::variant<Introduction, Bytes, AgentEnded, StopAsked, Reconnect, Acknowledge, Alive>;
using ToPeer = std::variant<Welcome, Refused, Begin, Bytes, EndInput, Alive, JobEnd, Resumed, Acknowledge>;

std::string encode(const ToCoordinator& message);
std::string encode(const ToPeer& message);

// Calls `send` with `bytes` as a sequence of Bytes messages, each with at most kMaxPiece bytes.
template <class Send>
void send_in_pieces(std::string_view bytes, Send send) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kMaxPiece))) {
    send(Bytes{std::string(bytes.substr(0, kMaxPiece))});
  }
}

// Cuts a byte stream into messages. Call next() after each feed() until it returns nullopt or an error; then at most 1
// MiB of bytes that are decoded already, and a part of one frame, stay in memory.
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
