// The agent's pipe to its launcher: messages in on one descriptor, out on another.
//
// A link that lasts outlives its pipe: what has been sent is kept until the launcher has it, and another pipe can go on
// where the one before has broken. All others are lost when their pipe breaks.
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
#include "common/wire/lasting_stream.h"

namespace sml::agent {

// One thread. Handlers are called from the loop, never from within a call.
class ControlLink {
 public:
  struct Handlers {
    std::function<void(wire::ToAgent)> message;
    std::function<void(const Error&)> lost;  // once: end of input, broken pipe, or nonsense received
    std::function<void()> drained;           // the queue has become short again
    std::function<void()> broken{};          // of one that lasts: its pipe, before each go_on()
  };

  // Takes the descriptors over; they become non-blocking.
  ControlLink(boost::asio::io_context& loop, int in, int out, Handlers handlers);

  void start();
  // Before anything but answers to a greeting has been sent.
  void make_lasting() { lasts_ = true; }
  // In the place of the pipe that there was, broken or not: `greeting` goes first, then what follows the bytes that the
  // launcher has received. False: it cannot be, and nothing changes.
  bool go_on(os::UniqueFd in, os::UniqueFd out, std::string greeting, std::uint64_t received);
  std::uint64_t received() const { return received_.count(); }

  void send(const wire::ToLauncher& message) { send_bytes(wire::encode(message)); }
  void send_bytes(std::string_view frames);
  // The last word: whatever is sent afterwards is not.
  void send_last(std::string_view frames);
  // Output, which counts against the credit that the launcher has granted. At most allowance() bytes.
  void send_output(Rank rank, wire::Stream stream, TimePoint read_at, std::string_view bytes);
  // The same with `size` bytes that a pipe of ours holds at least; they are moved without being copied where the system
  // can do so.
  void send_output_of(int pipe, Rank rank, wire::Stream stream, TimePoint read_at, std::size_t size);

  void grant(std::uint64_t credit) { credit_ += credit; }
  // Output bytes that may be sent now: credit, unless the launcher does not even take what is queued. Without a
  // launcher they are dropped, as whoever prints while saving is not to wait, nor to die of it.
  std::size_t allowance() const;
  // Nothing waits: all has been written, and where the link lasts the launcher has it.
  bool idle() const { return lasts_ ? sent_.size() == 0 : unwritten() == 0; }
  bool lost() const { return lost_; }
  // Gives the launcher up without being told by the system; `lost` is not called.
  void abandon();

 private:
  std::size_t unwritten() const { return static_cast<std::size_t>(sent_.end() - written_); }
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
  Handlers handlers_;
  wire::Decoder<wire::ToAgent> decoder_;
  std::unique_ptr<char[]> buffer_;  // pages that no bytes come to are never touched
  std::string head_;                // kept for its memory
  std::string greeting_;            // of a new pipe, before the rest
  wire::SentBytes sent_;
  std::uint64_t written_ = 0;  // place in it: not yet given to the pipe
  wire::ReceivedBytes received_;
  std::uint64_t credit_ = 0;
  std::uint32_t pipe_ = 0;  // counts them: handlers of an earlier one do nothing
  bool waits_to_write_ = false;
  bool lasts_ = false;
  bool broken_ = false;
  bool lost_ = false;
  bool last_sent_ = false;
};

}  // namespace sml::agent
