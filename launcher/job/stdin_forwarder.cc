#include "launcher/job/stdin_forwarder.h"

#include <algorithm>
#include <cerrno>
#include <utility>

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

void StdinForwarder::add_reader(Rank rank) { on_the_way_[rank] = 0; }

void StdinForwarder::start() {
  if (on_the_way_.empty() || std::exchange(started_, true)) return;
  over_ = false;
  if (const int fd = open_for_us(); fd >= 0) {
    waitable_.assign(fd);
  } else {
    plain_.reset(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!plain_) return end();
  }
  pump();
}

void StdinForwarder::taken(Rank rank, std::uint64_t bytes) {
  const auto reader = on_the_way_.find(rank);
  if (reader == on_the_way_.end()) return;
  reader->second -= std::min(reader->second, bytes);
  pump();
}

void StdinForwarder::remove_reader(Rank rank) {
  if (on_the_way_.erase(rank) == 0) return;
  if (on_the_way_.empty()) return stop();
  pump();
}

std::uint64_t StdinForwarder::credit() const {
  std::uint64_t most = 0;
  for (const auto& [rank, bytes] : on_the_way_) most = std::max(most, bytes);
  return kWindow - std::min(most, kWindow);
}

void StdinForwarder::stop() {
  over_ = true;
  boost::system::error_code ignored;
  waitable_.close(ignored);
  retry_.cancel();
  plain_.reset();
}

void StdinForwarder::pump() {
  if (over_ || waiting_ || credit() == 0) return;
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
  std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(credit(), 16384)), '\0');
  const ssize_t n = ::read(plain_ ? plain_.get() : waitable_.native_handle(), bytes.data(), bytes.size());
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return pump();
  if (n <= 0) return end();
  bytes.resize(static_cast<std::size_t>(n));
  for (auto& [rank, on_the_way] : on_the_way_) {
    on_the_way += bytes.size();
    handlers_.data(rank, bytes);
  }
  pump();
}

void StdinForwarder::end() {
  for (const auto& [rank, on_the_way] : on_the_way_) handlers_.end(rank);
  stop();
}

}  // namespace sml::job
