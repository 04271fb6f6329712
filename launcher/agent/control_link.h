// The agent's pipe to its launcher: messages in on one descriptor, out on another.
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
#include "common/wire/codec.h"

namespace sml::agent {

// One thread. Handlers are called from the loop, never from within a call.
class ControlLink {
 public:
  struct Handlers {
    std::function<void(wire::ToAgent)> message;
    std::function<void(const Error&)> lost;  // once: end of input, broken pipe, or nonsense received
    std::function<void()> drained;           // the queue has become short again
  };

  // Takes the descriptors over; they become non-blocking.
  ControlLink(boost::asio::io_context& loop, int in, int out, Handlers handlers);

  void start();
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
  // Output bytes that may be sent now: credit, unless the launcher does not even take what is queued.
  std::size_t allowance() const;
  bool idle() const { return pending_.empty() && writing_.empty(); }
  bool lost() const { return lost_; }
  // Gives the launcher up without being told by the system; `lost` is not called.
  void abandon();

 private:
  void read();
  void on_bytes(std::size_t size);
  bool send_head();
  void write();
  void lose(const Error& why);

  boost::asio::posix::stream_descriptor in_;
  boost::asio::posix::stream_descriptor out_;
  Handlers handlers_;
  wire::Decoder<wire::ToAgent> decoder_;
  std::unique_ptr<char[]> buffer_;  // pages that no bytes come to are never touched
  std::string head_;                // kept for its memory
  std::string pending_;             // not yet given to a write
  std::string writing_;
  std::uint64_t credit_ = 0;
  bool lost_ = false;
  bool last_sent_ = false;
};

}  // namespace sml::agent
