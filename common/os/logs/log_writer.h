// Appends many streams to files, as log_files.h does, on a thread of its own, so that a file system that hangs blocks
// nothing else.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/os/logs/log_files.h"
#include "common/os/side_thread.h"

namespace sml::os {

// Used by one thread, that of the loop, on which the events are reported; none is reported after the destructor.
class LogWriter {
 public:
  struct Events {
    std::function<void(const Error&)> failed;  // an error of LogFiles
    // the side thread has completed a task: pending() may have shrunk, and is_busy() may have become false
    std::function<void()> caught_up;
  };
  LogWriter(boost::asio::any_io_executor loop, LogFiles files, Events events);
  ~LogWriter() { hand_over(); }  // pending bytes are still written, unless the process ends first: see flush()
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  std::size_t count() const { return count_; }
  // Creates all files, empty; `then` is called when they exist, or after `failed`.
  void create(std::function<void()> then);
  // Creates further files; their indices follow, and may be used at once.
  void add(std::vector<std::string> paths);
  // Copies the bytes, and returns before they are written.
  void write(LogFiles::Index file, std::string_view bytes);
  // The number of bytes that are not written yet: a caller should pause writing while this is large.
  std::size_t pending() const { return pending_; }
  // True while work is queued, so that `failed` may still be called.
  bool is_busy() const { return under_way_ > 0; }
  // Blocks until everything is written, for at most `limit`. For the end of the program.
  void flush(Duration limit);

 private:
  using Piece = std::pair<LogFiles::Index, std::string>;
  void hand_over();
  void post(std::function<std::vector<Error>(LogFiles&)> work, std::function<void()> then);

  Events events_;
  std::shared_ptr<LogFiles> files_;  // used by the side thread
  std::size_t count_;
  std::vector<Piece> gathered_;  // for the next batch
  std::size_t pending_ = 0;
  std::size_t under_way_ = 0;  // tasks posted to the side thread
  bool writing_ = false;       // a batch is on the side thread
  SideThread side_;
};

}  // namespace sml::os
