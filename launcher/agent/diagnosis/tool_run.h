// Runs a program of the host for its output: starts it and reads to its end or to a limit, without ever blocking on it.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "common/core/error.h"
#include "launcher/agent/core/lifetime.h"

namespace sml::agent {

class ToolRun {
 public:
  explicit ToolRun(boost::asio::io_context& loop) : output_(loop) {}
  ~ToolRun() { kill(); }
  ToolRun(const ToolRun&) = delete;
  ToolRun& operator=(const ToolRun&) = delete;

  // `done` is called once, from the loop, when the output has ended or is longer than `most`; not after kill(). An
  // empty `environment` means that of this process.
  Result<void> start(const std::vector<std::string>& argv, std::size_t most, std::function<void()> done,
                     std::span<const std::string> environment = {});
  pid_t pid() const { return pid_; }
  // Its output so far, stdout and stderr.
  const std::string& text() const { return text_; }
  std::string take_text() { return std::move(text_); }
  // Kills its process group with SIGKILL. The process must still be reaped.
  void kill();
  // Called after a child of this process has been reaped. Returns true if it was this program.
  bool ended(pid_t pid);

 private:
  void await();
  void read();
  void finish();

  boost::asio::posix::stream_descriptor output_;
  std::function<void()> done_;
  std::size_t most_ = 0;
  std::string text_;
  pid_t pid_ = -1;
  Lifetime lifetime_;
};

}  // namespace sml::agent
