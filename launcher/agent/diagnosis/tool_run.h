// Runs a program of the host and collects its output up to a limit, without ever blocking on it.
#pragma once
#include <cstdint>
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
  enum class Lists : std::uint8_t { ToTrim, Trimmed };  // os::keep_trusted_lists() trims them at each start, or has
  struct Environment {
    std::span<const std::string> entries{};  // empty: those of this process
    Lists lists = Lists::ToTrim;
  };

  explicit ToolRun(boost::asio::io_context& loop) : output_(loop) {}
  ~ToolRun() { kill(); }
  ToolRun(const ToolRun&) = delete;
  ToolRun& operator=(const ToolRun&) = delete;

  // Starts the program as leader of its own session; call once. When its output has ended or has reached `most` bytes,
  // its process group is killed and `done` is called once, from the loop; not after kill(). The exit status is not
  // reported here. Error: the program is not started.
  Result<void> start(const std::vector<std::string>& argv, std::size_t most, std::function<void()> done,
                     const Environment& environment);
  pid_t pid() const { return pid_; }
  // The program's output so far, stdout and stderr in one.
  const std::string& text() const { return text_; }
  std::string take_text() { return std::move(text_); }
  // Kills the program's process group with SIGKILL. Does not reap the process, and `done` is not called any more.
  void kill();
  // Call after a child of this process has been reaped. Returns true if it was this program.
  bool ended(pid_t pid);

 private:
  void await();
  void read();
  void finish();

  boost::asio::posix::stream_descriptor output_;
  std::function<void()> done_;
  std::size_t most_ = 0;
  std::string text_;
  pid_t pid_ = -1;  // -1: not started, or reaped
  Lifetime lifetime_;
};

}  // namespace sml::agent
