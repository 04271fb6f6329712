// The agent's pipe to its launcher: receives messages on one descriptor, sends them on another.
//
// A resumable link outlives its pipe: it keeps sent bytes until the launcher has acknowledged them, and can go on over
// another pipe after the first one has broken. Any other link is lost when its pipe breaks.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/os/fd.h"
#include "common/wire/codec.h"
#include "common/wire/resumable_stream.h"

namespace sml::agent {

// One thread. Events are reported from the loop, never from within a call to this object.
class ControlLink {
 public:
  struct Events {
    std::function<void(wire::ToAgent)> message;
    // Called at most once: an invalid message or, if the link is not resumable, the end of its input or a broken pipe.
    // Not called after abandon().
    std::function<void(const Error&)> lost;
    std::function<void()> drained;   // queued bytes have been written: allowance() and idle() may have changed
    std::function<void()> broken{};  // the pipe of a resumable link broke; called at most once before each resume()
  };

  // Takes ownership of the descriptors and makes them non-blocking.
  ControlLink(boost::asio::io_context& loop, int in, int out, Events events);

  void start();  // begins to receive
  // Makes the link resumable. Must be called before anything but replies to a greeting has been sent.
  void make_resumable() { lasts_ = true; }
  // Replaces the current pipe, whether it is broken or not. Sends `greeting` first, then all bytes of the link after
  // the first `received` ones, which the launcher has received. Returns false and does not change the pipe if the link
  // cannot go on: it is lost or not resumable, or these bytes are no longer kept.
  bool resume(os::UniqueFd in, os::UniqueFd out, std::string greeting, std::uint64_t received);
  // The number of bytes received so far, over all pipes of this link.
  std::uint64_t received() const { return received_.count(); }

  void send(const wire::ToLauncher& message) { send_bytes(wire::encode(message)); }
  void send_bytes(std::string_view frames);
  // Sends the last frames: later sends do nothing.
  void send_last(std::string_view frames);
  // Sends output of a worker and counts it against the launcher's credit. `bytes` must be at most allowance() bytes
  // long.
  void send_output(Rank rank, wire::Stream stream, TimePoint read_at, std::string_view bytes);
  // Like send_output(), for the next `size` bytes of `pipe`, a descriptor of this process, from which at least that
  // many can be read now. Moves them without a copy where the kernel can. Reads nothing if the link is lost.
  void send_output_of(int pipe, Rank rank, wire::Stream stream, TimePoint read_at, std::size_t size);

  // The launcher allows that many more bytes of output.
  void grant(std::uint64_t credit) { credit_ += credit; }
  // The number of output bytes that may be sent now: at most the credit, and 0 while too many bytes wait to be written
  // to the pipe. Once the launcher is lost, output is accepted and dropped, so that a worker that prints while it saves
  // its state neither blocks nor dies.
  std::size_t allowance() const;
  // True if nothing is pending: all bytes have been written, and on a resumable link also acknowledged by the launcher.
  bool idle() const { return lasts_ ? sent_.size() == 0 : unwritten() == 0; }
  bool lost() const { return lost_; }
  // Makes the link lost, whether the pipe has broken or not, and drops all unsent bytes. Does not call `lost`.
  void abandon();

 private:
  std::size_t unwritten() const { return static_cast<std::size_t>(sent_.end() - written_); }
  // True if the next bytes can be written to the pipe directly, as none wait before them.
  bool takes_more() const { return unwritten() == 0 && greeting_.empty() && !broken_; }
  void read();
  void on_bytes(std::size_t size);
  void heed(const wire::Received& receipt);
  void send_head();
  void wrote(std::size_t size);
  bool write_some();
  void write();
  void wait_to_write();
  void pipe_broke(const char* how);
  void lose(const Error& why);

  boost::asio::posix::stream_descriptor in_;
  boost::asio::posix::stream_descriptor out_;
  Events events_;
  wire::Decoder<wire::ToAgent> decoder_;
  std::unique_ptr<char[]> buffer_;  // pages that receive no bytes are never touched
  std::string head_;                // the head of an output frame; a member to reuse its memory
  std::string greeting_;            // of a new pipe; written before sent_
  wire::SentBytes sent_;
  std::uint64_t written_ = 0;  // position in sent_ of the first byte that has not been written
  wire::ReceivedBytes received_;
  std::uint64_t credit_ = 0;  // bytes of output that the launcher still allows
  std::uint32_t pipe_ = 0;    // the number of the current pipe; handlers of earlier ones do nothing
  bool waits_to_write_ = false;
  bool lasts_ = false;   // the link is resumable
  bool broken_ = false;  // the link is resumable, and its pipe has broken
  bool lost_ = false;
  bool last_sent_ = false;  // send_last() was called
};

}  // namespace sml::agent
