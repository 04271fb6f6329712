#include "launcher/agent/link/control_link.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>

#include "launcher/agent/core/own_clock.h"

namespace sml::agent {

namespace {
constexpr std::size_t kLinkRead = std::size_t{64} << 10;
constexpr std::size_t kQueueLimit = std::size_t{64} << 10;  // output waits in the workers' pipes, not in this process
// More than the output that can be in flight. If a launcher asks for bytes from before these, its link cannot go on.
constexpr std::size_t kMostKept = std::size_t{24} << 20;

// Puts `fresh` under the same descriptor number as the old one, which other code refers to by number.
void put_in_place(boost::asio::posix::stream_descriptor& place, const os::UniqueFd& fresh) {
  const int fd = place.release();
  ::dup3(fresh.get(), fd, O_CLOEXEC);
  place.assign(fd);
  place.non_blocking(true);
}
}  // namespace

ControlLink::ControlLink(boost::asio::io_context& loop, int in, int out, Events events)
    : in_(loop, in),
      out_(loop, out),
      events_(std::move(events)),
      buffer_(std::make_unique_for_overwrite<char[]>(kLinkRead)) {
  in_.non_blocking(true);
  out_.non_blocking(true);
}

void ControlLink::start() { read(); }

bool ControlLink::resume(os::UniqueFd in, os::UniqueFd out, std::string greeting, std::uint64_t received) {
  if (lost_ || !lasts_ || !sent_.acknowledge(received) || !sent_.from(received)) return false;
  ++pipe_;
  put_in_place(in_, in);
  put_in_place(out_, out);
  greeting_ = std::move(greeting);
  written_ = received;
  broken_ = false;
  waits_to_write_ = false;
  wait_to_write();
  read();
  return true;
}

void ControlLink::read() {
  const auto on_read = [this, pipe = pipe_](boost::system::error_code error, std::size_t size) {
    if (error == boost::asio::error::operation_aborted || pipe != pipe_ || lost_) return;
    if (error) return pipe_broke("the launcher is gone");
    on_bytes(size);
  };
  in_.async_read_some(boost::asio::buffer(buffer_.get(), kLinkRead), on_read);
}

void ControlLink::on_bytes(std::size_t size) {
  received_.add(size);
  decoder_.feed(std::span<const char>(buffer_.get(), size));
  for (;;) {
    Result<std::optional<wire::ToAgent>> next = decoder_.next();
    if (!next) return lose(next.error());
    if (!next->has_value()) break;
    if (const auto* receipt = std::get_if<wire::Received>(&**next)) {
      heed(*receipt);
    } else {
      events_.message(std::move(**next));
    }
    if (lost_) return;
  }
  if (const auto place = lasts_ ? received_.receipt() : std::nullopt) send(wire::Received{*place});
  read();
}

void ControlLink::heed(const wire::Received& receipt) {
  if (!sent_.acknowledge(receipt.bytes)) return lose(Error(ErrorKind::Protocol, "it has what was not sent"));
  if (last_sent_) events_.drained();
}

void ControlLink::send_bytes(std::string_view frames) {
  if (lost_ || last_sent_) return;
  sent_.append(frames);
  write();
}

void ControlLink::send_last(std::string_view frames) {
  send_bytes(frames);
  last_sent_ = true;
}

// Writes straight from the caller's buffer, which is warm in the cache, as much as the kernel takes, and queues the
// rest.
void ControlLink::send_output(Rank rank, wire::Stream stream, TimePoint read_at, std::string_view bytes) {
  if (lost_ || last_sent_) return;
  credit_ -= std::min<std::uint64_t>(credit_, bytes.size());
  head_.clear();
  wire::append_output_head(head_, rank, stream, nanoseconds(read_at), bytes.size());
  std::size_t sent = 0;
  if (takes_more()) {
    const iovec pieces[] = {{head_.data(), head_.size()}, {const_cast<char*>(bytes.data()), bytes.size()}};
    const ssize_t n = ::writev(out_.native_handle(), pieces, std::size(pieces));
    if (n > 0) sent = static_cast<std::size_t>(n);  // an error recurs when the rest is written
  }
  if (!lasts_ && sent == head_.size() + bytes.size()) return;
  const std::size_t skipped = lasts_ ? 0 : sent;  // written bytes are kept on a resumable link, else dropped
  const std::size_t skipped_of_head = std::min(skipped, head_.size());
  sent_.append(std::string_view(head_).substr(skipped_of_head));
  sent_.append(bytes.substr(skipped - skipped_of_head));
  if (lasts_) wrote(sent);
  write();
}

// Reads and queues the bytes that splice() does not move; on a resumable link it reads and queues all.
void ControlLink::send_output_of(int pipe, Rank rank, wire::Stream stream, TimePoint read_at, std::size_t size) {
  if (lost_ || last_sent_) return;
  credit_ -= std::min<std::uint64_t>(credit_, size);
  head_.clear();
  wire::append_output_head(head_, rank, stream, nanoseconds(read_at), size);
  send_head();
  while (!lasts_ && takes_more() && size > 0) {
    const ssize_t n = ::splice(pipe, nullptr, out_.native_handle(), nullptr, size, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
    if (n <= 0) break;
    size -= static_cast<std::size_t>(n);
  }
  char* place = sent_.extend(size);
  while (size > 0) {
    const ssize_t n = ::read(pipe, place, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;  // impossible: the bytes are in the pipe, and nothing else reads it
    place += n;
    size -= static_cast<std::size_t>(n);
  }
  write();
}

// If the head is written completely, the payload can be spliced directly behind it.
void ControlLink::send_head() {
  sent_.append(head_);
  if (!lasts_) write();
}

std::size_t ControlLink::allowance() const {
  if (lost_) return kQueueLimit;
  if (unwritten() >= kQueueLimit) return 0;
  return static_cast<std::size_t>(std::min<std::uint64_t>(credit_, kQueueLimit));
}

void ControlLink::wrote(std::size_t size) {
  written_ += size;
  const std::uint64_t kept = lasts_ ? std::uint64_t{kMostKept} : 0;
  if (sent_.end() > kept) sent_.forget(std::min(written_, sent_.end() - kept));
}

// Returns false if nothing could be written, now or at all; errno has which.
bool ControlLink::write_some() {
  const bool greets = !greeting_.empty();
  const std::string_view rest = greets ? std::string_view(greeting_) : *sent_.from(written_);
  const ssize_t n = ::write(out_.native_handle(), rest.data(), rest.size());
  if (n < 0) return errno == EINTR;
  const auto size = static_cast<std::size_t>(n);
  if (greets) {
    greeting_.erase(0, size);
  } else {
    wrote(size);
  }
  return true;
}

void ControlLink::write() {
  if (lost_ || broken_ || waits_to_write_) return;
  while (!takes_more()) {
    if (!write_some()) return wait_to_write();  // an error recurs there
  }
}

void ControlLink::wait_to_write() {
  if (std::exchange(waits_to_write_, true)) return;
  out_.async_wait(boost::asio::posix::stream_descriptor::wait_write,
                  [this, pipe = pipe_](boost::system::error_code error) {
                    if (error == boost::asio::error::operation_aborted || pipe != pipe_ || lost_) return;
                    waits_to_write_ = false;
                    if (!takes_more() && !write_some() && errno != EAGAIN) {
                      return pipe_broke("the launcher does not listen any more");
                    }
                    write();
                    events_.drained();
                  });
}

void ControlLink::pipe_broke(const char* how) {
  if (broken_) return;
  if (!lasts_) return lose(Error(ErrorKind::Lost, how));
  broken_ = true;
  events_.broken();
}

void ControlLink::abandon() {
  lost_ = true;
  sent_.forget(sent_.end());
  written_ = sent_.end();
  boost::system::error_code ignored;
  in_.cancel(ignored);
}

void ControlLink::lose(const Error& why) {
  if (lost_) return;
  abandon();
  events_.lost(why);
}

}  // namespace sml::agent
