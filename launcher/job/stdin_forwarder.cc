#include "launcher/job/stdin_forwarder.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/post.hpp>

namespace sml::job {

namespace {

constexpr auto kLookAgain = std::chrono::milliseconds(500);  // has the terminal become ours?

// A description of our own where possible: waiting makes it non-blocking, which would reach those who share it.
int open_for_us() {
  struct stat info {};
  if (::fstat(STDIN_FILENO, &info) != 0) return -1;
  if (S_ISFIFO(info.st_mode) || ::isatty(STDIN_FILENO) == 1) {
    return ::open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  }
  if (S_ISSOCK(info.st_mode)) return ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  return -1;
}

bool in_background() { return ::isatty(STDIN_FILENO) == 1 && ::tcgetpgrp(STDIN_FILENO) != ::getpgrp(); }

}  // namespace

StdinForwarder::StdinForwarder(boost::asio::any_io_executor loop, Handlers handlers)
    : handlers_(std::move(handlers)), waitable_(loop), retry_(loop) {}

StdinForwarder::~StdinForwarder() { stop(); }

void StdinForwarder::start() {
  over_ = false;
  credit_ = kWindow;
  if (const int fd = open_for_us(); fd >= 0) {
    waitable_.assign(fd);
  } else {
    plain_.reset(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!plain_) return end();
  }
  pump();
}

void StdinForwarder::grant(std::uint64_t bytes) {
  credit_ = std::min(credit_ + bytes, kWindow);
  pump();
}

void StdinForwarder::stop() {
  over_ = true;
  boost::system::error_code ignored;
  waitable_.close(ignored);
  retry_.cancel();
  plain_.reset();
}

void StdinForwarder::pump() {
  if (over_ || waiting_ || credit_ == 0) return;
  waiting_ = true;
  const auto ready = [this](boost::system::error_code error) {
    if (error == boost::asio::error::operation_aborted) return;
    waiting_ = false;
    read_some();
  };
  if (plain_) {
    boost::asio::post(retry_.get_executor(), [ready] { ready({}); });
  } else {
    waitable_.async_wait(boost::asio::posix::stream_descriptor::wait_read, ready);
  }
}

void StdinForwarder::read_some() {
  if (over_) return;
  if (in_background()) {  // reading now would stop us
    waiting_ = true;
    retry_.expires_after(kLookAgain);
    return retry_.async_wait([this](boost::system::error_code error) {
      if (error) return;
      waiting_ = false;
      pump();
    });
  }
  std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(credit_, 16384)), '\0');
  const ssize_t n = ::read(plain_ ? plain_.get() : waitable_.native_handle(), bytes.data(), bytes.size());
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return pump();
  if (n <= 0) return end();
  bytes.resize(static_cast<std::size_t>(n));
  credit_ -= bytes.size();
  handlers_.data(std::move(bytes));
  pump();
}

void StdinForwarder::end() {
  if (std::exchange(over_, true)) return;
  handlers_.end();
}

}  // namespace sml::job
