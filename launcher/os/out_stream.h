// Writes to a descriptor that other processes may share (stdout of this process) without ever blocking the loop.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>

namespace sml::os {

// Pipes and terminals are reopened through /proc, so that O_NONBLOCK affects this process only; sockets are written
// with MSG_DONTWAIT; regular files, and descriptors that cannot be reopened, such as a terminal of another user, are
// written as they are by a side thread. Used by one thread, that of the loop.
class OutStream {
 public:
  struct Handlers {
    std::function<void()> drained;              // the kernel has taken everything, after it did not do so at once
    std::function<void(int sys_errno)> broken;  // called once; later bytes are dropped
  };
  OutStream(boost::asio::any_io_executor loop, int fd, Handlers handlers);
  ~OutStream();
  OutStream(const OutStream&) = delete;
  OutStream& operator=(const OutStream&) = delete;

  // Takes all of `bytes`, and leaves it empty. Calls no handler from within.
  void write(std::string& bytes);
  std::size_t pending() const;
  bool broken() const;
  // Writes the pending bytes; blocks for at most `limit_ms` or, for a regular file, as long as its file system takes.
  // For the end of the program.
  void flush(int limit_ms);
  // For a regular file: truncates it.
  void empty();

 private:
  struct State;
  static void push(const std::shared_ptr<State>& state);
  static void push_aside(const std::shared_ptr<State>& state);
  static void give_up(const std::shared_ptr<State>& state, int sys_errno);
  static void await(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;
};

// True if both are the same file, so that writes to them must go through one OutStream to keep their order.
bool same_file(int a, int b);

bool is_regular_file(int fd);

}  // namespace sml::os
