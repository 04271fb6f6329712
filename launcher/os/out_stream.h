// Writes to a descriptor that other processes may share (stdout of this process) without blocking the loop.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/clock.h"

namespace sml::os {

// Pipes and terminals are reopened through /proc, so that O_NONBLOCK affects this process only; sockets are written
// with MSG_DONTWAIT; regular files, and descriptors that cannot be reopened, such as a terminal of another user, are
// written as they are by a side thread, or by the loop itself where no thread can be made. A pipe gets room for 256
// KiB, if the system allows it. Used by one thread, that of the loop, which also reports the events.
class OutStream {
 public:
  static constexpr Duration kForFileSystem = std::chrono::seconds(10);

  struct Events {
    std::function<void()> drained;  // all bytes are written, after a write() that could not write them at once
    std::function<void(int sys_errno)> broken;  // a write failed; called once; pending and later bytes are dropped
  };
  // `fd` stays the caller's; this object has a duplicate. The destructor drops what a pipe, socket or terminal has not
  // taken; the side thread finishes what it has been given.
  OutStream(boost::asio::any_io_executor loop, int fd, Events events);
  ~OutStream();
  OutStream(const OutStream&) = delete;
  OutStream& operator=(const OutStream&) = delete;

  // Takes all of `bytes`, and leaves it empty: keeps in memory what cannot be written now, without a limit. Calls no
  // handler from within.
  void write(std::string& bytes);
  std::size_t pending() const;  // bytes not written yet
  bool broken() const;
  // Writes the pending bytes. Blocks; gives up when `limit_ms` pass without progress. The side thread has `limit_ms` in
  // all for its writes, and for a regular file kForFileSystem instead. For the end of the program.
  void flush(int limit_ms);
  // An action, not a question. For a regular file: drops the pending bytes, and truncates the file. Without effect on
  // other descriptors.
  void empty();

 private:
  struct State;
  static void push(const std::shared_ptr<State>& state);
  static void push_aside(const std::shared_ptr<State>& state);
  static void give_up(const std::shared_ptr<State>& state, int sys_errno);
  static void await(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;
};

// True if both descriptors are of the same file, so that writes must go through one OutStream to keep their order.
bool same_file(int a, int b);

bool is_regular_file(int fd);

}  // namespace sml::os
