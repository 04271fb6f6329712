#include "launcher/agent/control_link.h"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "launcher/agent/own_clock.h"

namespace sml::agent {

namespace {
constexpr std::size_t kReadSize = std::size_t{64} << 10;
constexpr std::size_t kQueueLimit = std::size_t{64} << 10;  // output waits in the workers' pipes, not with us
}  // namespace

ControlLink::ControlLink(boost::asio::io_context& loop, int in, int out, Handlers handlers)
    : in_(loop, in),
      out_(loop, out),
      handlers_(std::move(handlers)),
      buffer_(std::make_unique_for_overwrite<char[]>(kReadSize)) {
  in_.non_blocking(true);
  out_.non_blocking(true);
}

void ControlLink::start() { read(); }

void ControlLink::read() {
  const auto heard = [this](boost::system::error_code error, std::size_t size) {
    if (error == boost::asio::error::operation_aborted) return;
    if (error) return lose(Error(ErrorKind::Lost, "the launcher is gone"));
    on_bytes(size);
  };
  in_.async_read_some(boost::asio::buffer(buffer_.get(), kReadSize), heard);
}

void ControlLink::on_bytes(std::size_t size) {
  decoder_.feed(std::span<const char>(buffer_.get(), size));
  for (;;) {
    Result<std::optional<wire::ToAgent>> next = decoder_.next();
    if (!next) return lose(next.error());
    if (!next->has_value()) break;
    handlers_.message(std::move(**next));
    if (lost_) return;
  }
  read();
}

void ControlLink::send_bytes(std::string_view frames) {
  if (lost_ || last_sent_) return;
  pending_ += frames;
  write();
}

void ControlLink::send_last(std::string_view frames) {
  send_bytes(frames);
  last_sent_ = true;
}

// Straight from the caller's buffer, which is warm in the cache, as far as the system takes it; the rest is queued.
void ControlLink::send_output(Rank rank, wire::Stream stream, TimePoint read_at, std::string_view bytes) {
  if (lost_ || last_sent_) return;
  credit_ -= std::min<std::uint64_t>(credit_, bytes.size());
  head_.clear();
  wire::append_output_head(head_, rank, stream, nanoseconds(read_at), bytes.size());
  std::size_t sent = 0;
  if (idle()) {
    const iovec pieces[] = {{head_.data(), head_.size()}, {const_cast<char*>(bytes.data()), bytes.size()}};
    const ssize_t n = ::writev(out_.native_handle(), pieces, std::size(pieces));
    if (n > 0) sent = static_cast<std::size_t>(n);  // an error shows again when the rest is written
  }
  if (sent == head_.size() + bytes.size()) return;
  const std::size_t sent_of_head = std::min(sent, head_.size());
  pending_.append(head_, sent_of_head);
  pending_ += bytes.substr(sent - sent_of_head);
  write();
}

// What the system does not take is read after all, and queued.
void ControlLink::send_output_of(int pipe, Rank rank, wire::Stream stream, TimePoint read_at, std::size_t size) {
  if (lost_ || last_sent_) return;
  credit_ -= std::min<std::uint64_t>(credit_, size);
  head_.clear();
  wire::append_output_head(head_, rank, stream, nanoseconds(read_at), size);
  if (send_head()) {
    while (size > 0) {
      const ssize_t n = ::splice(pipe, nullptr, out_.native_handle(), nullptr, size, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
      if (n <= 0) break;
      size -= static_cast<std::size_t>(n);
    }
  }
  const std::size_t queued = pending_.size();
  pending_.resize(queued + size);
  for (std::size_t at = queued; at < pending_.size();) {
    const ssize_t n = ::read(pipe, &pending_[at], pending_.size() - at);
    if (n > 0) at += static_cast<std::size_t>(n);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;  // cannot be: they are there, and nobody else reads them
  }
  write();
}

// True when it has gone out whole, and the bytes can follow directly; else it is queued, or what is left of it.
bool ControlLink::send_head() {
  const ssize_t n = idle() ? ::write(out_.native_handle(), head_.data(), head_.size()) : 0;
  const auto sent = static_cast<std::size_t>(std::max<ssize_t>(n, 0));
  pending_.append(head_, sent);
  return sent == head_.size();
}

std::size_t ControlLink::allowance() const {
  if (lost_ || pending_.size() + writing_.size() >= kQueueLimit) return 0;
  return static_cast<std::size_t>(std::min<std::uint64_t>(credit_, kQueueLimit));
}

void ControlLink::write() {
  if (!writing_.empty() || pending_.empty() || lost_) return;
  writing_.swap(pending_);
  boost::asio::async_write(out_, boost::asio::buffer(writing_), [this](boost::system::error_code error, std::size_t) {
    writing_.clear();
    if (error == boost::asio::error::operation_aborted) return;
    if (error) return lose(Error(ErrorKind::Lost, "the launcher does not listen any more"));
    write();
    handlers_.drained();
  });
}

void ControlLink::abandon() {
  lost_ = true;
  pending_.clear();
  boost::system::error_code ignored;
  in_.cancel(ignored);
}

void ControlLink::lose(const Error& why) {
  if (lost_) return;
  abandon();
  handlers_.lost(why);
}

}  // namespace sml::agent
