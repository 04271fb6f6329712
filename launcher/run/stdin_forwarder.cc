#include "launcher/run/stdin_forwarder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/post.hpp>

namespace sml::run {

namespace {

constexpr auto kLookAgain = std::chrono::milliseconds(500);  // has the terminal become ours?

struct Opened {
  os::UniqueFd source;
  os::UniqueFd waitable;
};

// A FIFO with a name, opened anew, would not tell that its last writer has gone before.
bool is_pipe_without_name() {
  constexpr std::string_view kPipe = "pipe:";
  std::array<char, kPipe.size()> target{};
  const ssize_t size = ::readlink("/proc/self/fd/0", target.data(), target.size());
  return size == static_cast<ssize_t>(kPipe.size()) && std::string_view(target.data(), target.size()) == kPipe;
}

// Waiting makes a description non-blocking, which would reach those who share it: so it is one of our own, or a watch.
Opened open_for_us() {
  struct stat info {};
  if (::fstat(STDIN_FILENO, &info) != 0) return {};
  if (is_pipe_without_name() || ::isatty(STDIN_FILENO) == 1) {
    os::UniqueFd own(::open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    os::UniqueFd waitable(own ? ::fcntl(own.get(), F_DUPFD_CLOEXEC, 3) : -1);
    if (waitable) return {std::move(own), std::move(waitable)};
  }
  Opened opened{os::UniqueFd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)), {}};
  if (!S_ISSOCK(info.st_mode) && !S_ISFIFO(info.st_mode)) return opened;
  if (Result<os::UniqueFd> watch = os::make_watch(STDIN_FILENO, EPOLLIN)) opened.waitable = std::move(*watch);
  return opened;
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
  Opened opened = open_for_us();
  source_ = std::move(opened.source);
  if (!source_) return end();
  if (opened.waitable) waitable_.assign(opened.waitable.release());
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
  source_.reset();
}

void StdinForwarder::pump() {
  if (over_ || waiting_ || credit() == 0) return;
  waiting_ = true;
  const auto ready = [this](boost::system::error_code error) {
    if (error == boost::asio::error::operation_aborted) return;
    waiting_ = false;
    read_some();
  };
  if (!waitable_.is_open()) {
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
  const ssize_t n = ::read(source_.get(), bytes.data(), bytes.size());
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

}  // namespace sml::run
