// Work on files whose file systems may stall. Each piece has a thread of its own, so that a stall holds up neither the
// job nor the work on other files; the end of the job waits for a limited time.
#pragma once
#include <functional>
#include <list>
#include <string>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/os/side_thread.h"
#include "launcher/run/watch/printer.h"

namespace sml::run {

// Used on the loop's thread.
class FileWork {
 public:
  static constexpr Duration kEndTimeout = std::chrono::seconds(15);  // of the end of the job

  // `loop` and `printer`, which prints warnings, outlive this.
  FileWork(boost::asio::io_context& loop, Printer& printer) : loop_(loop), printer_(printer) {}

  // Begins `work`, which owns what it uses, as it may outlive this. `then` is called from the loop once it is done;
  // never if the job does not wait so long. `option` names the file in a warning.
  void begin(std::string option, std::function<void()> work, std::function<void()> then);
  // Begins `work`, as above, and prints its error.
  void write(const std::string& option, std::function<Result<void>()> work);
  // For the end of the job: runs the loop until all work is done, until somebody stops the loop, or for kEndTimeout.
  // Prints a warning for each file that is given up.
  void finish();

 private:
  struct Task {
    Task(std::string of, const boost::asio::any_io_executor& loop) : option(std::move(of)), thread(loop) {}
    std::string option;
    os::SideThread thread;
  };

  boost::asio::io_context& loop_;
  Printer& printer_;
  std::list<Task> tasks_;  // not done yet
};

}  // namespace sml::run
