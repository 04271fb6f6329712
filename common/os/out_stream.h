// A descriptor that other processes may share (our stdout), written without ever blocking the loop.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>

namespace sml::os {

// Pipes and terminals are opened anew through /proc, so that O_NONBLOCK is ours alone; sockets are written with
// MSG_DONTWAIT; regular files, and whatever cannot be opened anew, such as a terminal of another user, are written as
// they are, by a thread. Used by one thread, that of the loop.
class OutStream {
 public:
  struct Handlers {
    std::function<void()> drained;              // the kernel has everything, after it did not take it at once
    std::function<void(int sys_errno)> broken;  // once; everything later is dropped
  };
  OutStream(boost::asio::any_io_executor loop, int fd, Handlers handlers);
  ~OutStream();
  OutStream(const OutStream&) = delete;
  OutStream& operator=(const OutStream&) = delete;

  // Takes all of `bytes`, and leaves it empty. Calls no handler from within.
  void write(std::string& bytes);
  std::size_t pending() const;
  bool broken() const;
  // Writes what is pending, blocking for at most `limit_ms`, or for as long as the file system of a regular file takes.
  // For the last words.
  void flush(int limit_ms);
  // Of a regular file: begins anew, with nothing in it.
  void empty();

 private:
  struct State;
  static void push(const std::shared_ptr<State>& state);
  static void push_aside(const std::shared_ptr<State>& state);
  static void give_up(const std::shared_ptr<State>& state, int sys_errno);
  static void await(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;
};

// True when both are the same file, so that writes to them must go through one OutStream to stay in order.
bool same_file(int a, int b);

bool is_regular_file(int fd);

}  // namespace sml::os
