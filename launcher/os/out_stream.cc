#include "launcher/os/out_stream.h"

#include <cerrno>
#include <chrono>

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include "common/os/fd.h"
#include "common/os/side_thread.h"

namespace sml::os {

namespace {

constexpr int kPipeSize = 256 << 10;  // so that the reader has something to read while the loop is busy

enum class Kind : std::uint8_t { File, Plain, Waitable, Socket };

struct Opened {
  UniqueFd fd;
  Kind kind = Kind::Plain;
};

bool blocks(Kind kind) { return kind == Kind::File || kind == Kind::Plain; }

Opened open_for_us(int fd) {
  struct stat info {};
  const bool known = ::fstat(fd, &info) == 0;
  if (known && S_ISSOCK(info.st_mode)) return {UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 3)), Kind::Socket};
  if (known && (S_ISFIFO(info.st_mode) || ::isatty(fd) == 1)) {
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    UniqueFd own(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (own) widen_pipe(own.get(), kPipeSize);
    if (own) return {std::move(own), Kind::Waitable};
  }
  return {UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 3)), known && S_ISREG(info.st_mode) ? Kind::File : Kind::Plain};
}

// Used on the side thread.
struct Aside {
  std::string bytes;
  int sys_errno = 0;

  void write(int fd) { sys_errno = write_all(fd, bytes) ? 0 : errno; }
};

}  // namespace

struct OutStream::State {
  State(boost::asio::any_io_executor the_loop, Opened opened, Events the_events)
      : loop(the_loop),
        file(the_loop),
        side(the_loop),
        own(std::make_shared<const UniqueFd>(std::move(opened.fd))),
        kind(opened.kind),
        fd(own->get()),
        events(std::move(the_events)) {
    if (kind == Kind::Waitable) file.assign(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
    if (kind != Kind::Socket) return;
    if (Result<UniqueFd> watch = make_watch(fd, EPOLLOUT)) file.assign(watch->release());
  }

  ssize_t write_some(std::string_view bytes) const {
    if (kind == Kind::Socket) return ::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return ::write(fd, bytes.data(), bytes.size());
  }

  boost::asio::any_io_executor loop;
  boost::asio::posix::stream_descriptor file;  // waited for
  SideThread side;                             // writes what may block
  std::shared_ptr<const UniqueFd> own;         // written to
  Kind kind;
  int fd;
  Events events;
  std::string pending;
  std::size_t begin = 0;
  std::size_t aside = 0;  // bytes that the side thread is writing
  std::string spare;      // an empty buffer for the next bytes: new memory for each piece would cost more than copying
  bool waiting = false;
  bool is_broken = false;
};

OutStream::OutStream(boost::asio::any_io_executor loop, int fd, Events events)
    : state_(std::make_shared<State>(std::move(loop), open_for_us(fd), std::move(events))) {}

OutStream::~OutStream() {
  state_->events = {};
  boost::system::error_code ignored;
  state_->file.close(ignored);
}

void OutStream::write(std::string& bytes) {
  if (state_->is_broken) return bytes.clear();
  if (pending() == 0) {
    state_->pending.swap(bytes);
    state_->begin = 0;
  } else {
    state_->pending += bytes;
  }
  bytes.clear();
  if (!state_->waiting) push(state_);
}

void OutStream::give_up(const std::shared_ptr<State>& state, int sys_errno) {
  state->is_broken = true;
  state->pending.clear();
  state->begin = 0;
  boost::asio::post(state->loop, [state, sys_errno] {
    if (state->events.broken) state->events.broken(sys_errno);
  });
}

void OutStream::push(const std::shared_ptr<State>& state) {
  if (blocks(state->kind)) return push_aside(state);
  while (state->begin < state->pending.size()) {
    const ssize_t n = state->write_some(std::string_view(state->pending).substr(state->begin));
    if (n >= 0) {
      state->begin += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      return await(state);
    } else if (errno != EINTR) {
      return give_up(state, errno);
    }
  }
  state->pending.clear();
  state->begin = 0;
}

void OutStream::push_aside(const std::shared_ptr<State>& state) {
  if (state->pending.empty()) return;
  const auto piece = std::make_shared<Aside>(Aside{std::exchange(state->pending, std::exchange(state->spare, {}))});
  state->aside += piece->bytes.size();
  state->waiting = true;
  state->side.post([piece, own = state->own] { piece->write(own->get()); },
                   [piece, weak = std::weak_ptr<State>(state)] {
                     const std::shared_ptr<State> here = weak.lock();
                     if (!here) return;
                     here->aside -= piece->bytes.size();
                     here->spare = std::move(piece->bytes);
                     here->spare.clear();
                     here->waiting = here->aside > 0;
                     if (piece->sys_errno != 0) return give_up(here, piece->sys_errno);
                     if (!here->waiting) push_aside(here);
                     if (!here->waiting && here->events.drained) here->events.drained();
                   });
}

void OutStream::await(const std::shared_ptr<State>& state) {
  state->waiting = true;
  using File = boost::asio::posix::stream_descriptor;
  // The epoll watch of a socket becomes readable.
  const auto what = state->kind == Kind::Socket ? File::wait_read : File::wait_write;
  state->file.async_wait(what, [state](boost::system::error_code error) {
    state->waiting = false;
    if (error) return;
    push(state);
    if (!state->waiting && !state->is_broken && state->events.drained) state->events.drained();
  });
}

std::size_t OutStream::pending() const { return state_->aside + state_->pending.size() - state_->begin; }

bool OutStream::broken() const { return state_->is_broken; }

void OutStream::flush(int limit_ms) {
  if (blocks(state_->kind)) {
    const Duration limit = state_->kind == Kind::File ? kForFileSystem : std::chrono::milliseconds(limit_ms);
    push_aside(state_);
    static_cast<void>(state_->side.finish(limit));
    return;
  }
  while (pending() > 0) {
    pollfd p{.fd = state_->fd, .events = POLLOUT, .revents = 0};
    if (::poll(&p, 1, limit_ms) <= 0) return;
    const ssize_t n = state_->write_some(std::string_view(state_->pending).substr(state_->begin));
    if (n < 0 && errno != EAGAIN && errno != EINTR) return;
    if (n > 0) state_->begin += static_cast<std::size_t>(n);
  }
}

void OutStream::empty() {
  if (state_->kind != Kind::File) return;
  state_->pending.clear();
  state_->side.post(
      [own = state_->own] {
        if (::ftruncate(own->get(), 0) == 0) static_cast<void>(::lseek(own->get(), 0, SEEK_SET));
      },
      [] {});
}

bool same_file(int a, int b) {
  struct stat first {};
  struct stat second {};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino && first.st_rdev == second.st_rdev;
}

bool is_regular_file(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

}  // namespace sml::os
