// Descriptors with one owner, close-on-exec from birth.
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

// Makes a pipe hold at least `size` bytes, where the system lets us; anything else stays as it is.
void widen_pipe(int fd, int size);

// Two connected stream sockets (AF_UNIX).
Result<std::array<UniqueFd, 2>> make_socketpair();

Result<UniqueFd> open_dev_null();

// For a program that is to read nothing: /dev/null, or a pipe at its end where there is none, as in an empty root.
Result<UniqueFd> open_empty_input();

// 0, 1 and 2 are open afterwards (on /dev/null where they were closed), so that no descriptor of ours gets their
// number.
void ensure_standard_descriptors();

void set_nonblocking(int fd);

// A descriptor that becomes readable when `fd` has one of the epoll `events`. Asio makes what it waits for
// non-blocking, which those who share a socket would see; it may do so with this one.
Result<UniqueFd> make_watch(int fd, std::uint32_t events);

// Raises the soft limit on open descriptors to the hard one; answers the soft limit that was in force before.
unsigned long raise_descriptor_limit();
unsigned long descriptor_limit();  // the soft one

// Writes all of it, waiting as long as it takes; false on an error. For short texts on blocking descriptors.
bool write_all(int fd, std::string_view bytes);

}  // namespace sml::os
