// The process that imports Python modules in advance and starts workers by fork (--preload): one for all attempts of an
// agent. It runs preload.py.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/exit_status.h"
#include "common/os/spawn.h"
#include "common/plan/program/preload.h"
#include "launcher/agent/core/lifetime.h"
#include "launcher/agent/core/processes.h"

namespace sml::agent {

// The process is a child of the agent and leads a process group of its own. It ends when the agent ends, or when its
// socket is closed. The workers that it forks become children of the agent, like the ones of Processes::start().
//
// If the process cannot serve, for whatever reason, workers are executed as without --preload, and a message gives the
// reason. One thread: that of the loop, which spawn() blocks for the duration of a fork, some 20 seconds at most.
class Preload {
 public:
  // `print` receives a sentence for the user.
  using Print = std::function<void(const std::string& sentence)>;
  Preload(boost::asio::io_context& loop, Processes& processes, Print print)
      : processes_(processes), print_(std::move(print)), socket_(loop), words_(loop), timer_(loop) {}
  ~Preload() { end(); }
  Preload(const Preload&) = delete;
  Preload& operator=(const Preload&) = delete;

  struct Request {
    std::vector<std::string> modules;
    Duration limit;                 // time limit of the imports
    std::vector<std::string> argv;  // of the workers
    // As for a worker; the environment has the variables that all workers have in common. `argv`, stdout, stderr and
    // `more_descriptors` are ignored.
    os::WorkerProcess process;
  };
  // To be called for every attempt. Starts the process, unless it exists or could not serve earlier.
  void prepare(const Request& request);
  // Calls `go` when no imports run (any more), whether they succeeded or not: within this call, or later from the loop.
  // Replaces an earlier `go` that has not been called.
  void when_settled(std::function<void()> go);

  // Starts a worker like Processes::start(): by a fork of the process if the imports have succeeded and the worker runs
  // the same program with the same start conditions; otherwise by Processes::start() itself.
  std::variant<pid_t, SpawnFailed> spawn(const os::WorkerProcess& worker);

  bool is(pid_t pid) const { return pid_ > 0 && pid == pid_; }
  // To be called after a child was reaped. Returns true if it was this process.
  bool ended(pid_t pid, const ExitStatus& status);

 private:
  // None: not started. GivenUp: it cannot serve, and is not started again.
  enum class State : std::uint8_t { None, Importing, Ready, GivenUp };

  Result<void> start(const Request& request);
  void give_up(const std::string& why);
  void settle(State state);
  void end();
  void await_answer();
  void read_answer();
  void await_words();
  void read_words();
  void say_lines(std::string_view text);
  // Why this worker cannot be forked; empty if it can.
  std::string hindrance(const os::WorkerProcess& worker) const;
  // Error: the process cannot serve any more. SpawnFailed: this worker cannot be started.
  Result<std::variant<pid_t, SpawnFailed>> fork(const os::WorkerProcess& worker);
  Result<void> send(const std::string& message, std::span<const int> descriptors);
  Result<std::string> handle();  // waits for the answer to fork()

  Processes& processes_;
  Print print_;
  State state_ = State::None;
  std::string modules_;  // the names as the user gave them
  // The command line, program and environment for which the modules were imported.
  plan::PythonLine line_;
  std::string program_;
  std::vector<std::string> environment_;
  pid_t pid_ = -1;
  boost::asio::posix::stream_descriptor socket_;
  boost::asio::posix::stream_descriptor words_;  // what the modules print
  boost::asio::steady_timer timer_;
  std::string answer_;          // the part of the first answer that has been read
  std::string partial_line_;    // the part of words_ that has no whole line yet
  std::size_t line_count_ = 0;  // the number of lines of words_
  bool warned_ = false;         // a message has given the reason why a worker was executed instead
  std::function<void()> go_;    // of when_settled(); null: there is none, or it has been called
  Lifetime lifetime_;
};

}  // namespace sml::agent
