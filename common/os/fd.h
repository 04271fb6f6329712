// File descriptors with one owner, close-on-exec from creation.
#pragma once
#include <array>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "common/core/error.h"

namespace sml::os {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};
Result<Pipe> make_pipe();

// Makes a pipe hold at least `size` bytes if the system allows it; has no effect on other descriptors.
void widen_pipe(int fd, int size);

// Two connected stream sockets (AF_UNIX).
Result<std::array<UniqueFd, 2>> make_socketpair();

Result<UniqueFd> open_dev_null();

// An input at its end: /dev/null or, where that does not exist, as in an empty root, the read end of a closed pipe.
Result<UniqueFd> open_empty_input();

// Opens 0, 1 and 2 on /dev/null if they are closed, so that no later descriptor of this process gets their numbers.
void ensure_standard_descriptors();

// Closes all descriptors from `first` on. Without close_range(2), which old kernels lack and containers forbid, those
// below the soft limit, at most 65536. Makes system calls only.
void close_from(int first);

void set_nonblocking(int fd);

// Returns a descriptor that becomes readable when `fd` has one of the epoll `events`. Asio makes a descriptor that it
// waits for non-blocking, which would affect all processes that share a socket; waiting for this one instead avoids
// that.
Result<UniqueFd> make_watch(int fd, std::uint32_t events);

// Raises the soft limit on open descriptors to the hard limit; returns the soft limit that was in force before.
unsigned long raise_descriptor_limit();
unsigned long descriptor_limit();  // the soft limit

// Writes all bytes, blocking as long as it takes, also if the descriptor is non-blocking; returns false on an error.
bool write_all(int fd, std::string_view bytes);

}  // namespace sml::os
