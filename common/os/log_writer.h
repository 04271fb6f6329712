// Files to which many streams are appended, as log_files.h has them, on a thread of their own: a file system that
// stands still holds up nobody but them.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/os/log_files.h"
#include "common/os/side_thread.h"

namespace sml::os {

// Used by one thread, that of the loop, which calls the handlers.
class LogWriter {
 public:
  struct Handlers {
    std::function<void(const Error&)> failed;  // as LogFiles answers it
    std::function<void()> caught_up;           // pending() has become less, or is_busy() false
  };
  LogWriter(boost::asio::any_io_executor loop, LogFiles files, Handlers handlers);
  ~LogWriter() { hand_over(); }  // what is pending is still written
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  std::size_t count() const { return count_; }
  // Makes all files, empty; `then` is called when they are there, or when `failed` has been.
  void create(std::function<void()> then);
  // Further ones, made at once: their indices follow.
  void add(std::vector<std::string> paths);
  void write(LogFiles::Index file, std::string_view bytes);
  // Bytes that have not been written yet: whoever writes more is to wait while these are many.
  std::size_t pending() const { return pending_; }
  // `failed` may still be called for what it has been told.
  bool is_busy() const { return under_way_ > 0; }
  // Waits until all has been written, but not for longer. For the last words.
  void flush(Duration limit);

 private:
  using Piece = std::pair<LogFiles::Index, std::string>;
  void hand_over();
  void post(std::function<std::vector<Error>(LogFiles&)> work, std::function<void()> then);

  Handlers handlers_;
  std::shared_ptr<LogFiles> files_;  // the thread's
  std::size_t count_;
  std::vector<Piece> gathered_;  // for its next turn
  std::size_t pending_ = 0;
  std::size_t under_way_ = 0;  // of what the thread was asked for
  bool writing_ = false;
  SideThread side_;
};

}  // namespace sml::os
