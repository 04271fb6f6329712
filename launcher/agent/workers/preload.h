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

// A child of the agent, leader of a session of its own. It dies with the agent, and with its socket. What it makes are
// children of the agent too, as Processes::start() makes them.
//
// If it cannot serve, for whatever reason, workers are executed as without --preload, and one message gives the reason.
// One thread: that of the loop, which spawn() blocks for the duration of a fork.
class Preload {
 public:
  // `print` receives a sentence for the user.
  using Print = std::function<void(const std::string& sentence)>;
  Preload(boost::asio::io_context& loop, Processes& processes, Print print)
      : processes_(processes), print_(std::move(print)), socket_(loop), words_(loop), timer_(loop) {}
  ~Preload() { end(); }
  Preload(const Preload&) = delete;
  Preload& operator=(const Preload&) = delete;

  struct Wish {
    std::vector<std::string> modules;
    Duration limit;                 // time limit of the imports
    std::vector<std::string> argv;  // of the workers
    // Like a worker's; the environment has the variables that all workers have in common.
    os::WorkerProcess process;
  };
  // To be called for every attempt. Starts the process, unless it exists or could not serve earlier.
  void prepare(const Wish& wish);
  // Calls `go` once spawn() need not wait: now, or from the loop. Replaces an earlier `go` that has not been called.
  void when_settled(std::function<void()> go);

  // As Processes::start(), by a fork where that is the same.
  std::variant<pid_t, SpawnFailed> spawn(const os::WorkerProcess& worker);

  bool is(pid_t pid) const { return pid_ > 0 && pid == pid_; }
  // Called after a child was reaped. Returns true if it was this process.
  bool ended(pid_t pid, const ExitStatus& status);

 private:
  enum class State : std::uint8_t { None, Importing, Ready, GivenUp };

  Result<void> start(const Wish& wish);
  void give_up(const std::string& why);
  void settle(State state);
  void end();
  void await_answer();
  void read_answer();
  void await_words();
  void read_words();
  void say_lines(std::string_view text);
  std::string hindrance(const os::WorkerProcess& worker) const;
  Result<std::variant<pid_t, SpawnFailed>> fork(const os::WorkerProcess& worker);
  Result<void> send(const std::string& message, std::span<const int> descriptors);
  Result<std::string> handle();

  Processes& processes_;
  Print print_;
  State state_ = State::None;
  std::string modules_;  // the names as the user gave them
  plan::PythonLine line_;
  std::string program_;
  std::vector<std::string> environment_;
  pid_t pid_ = -1;
  boost::asio::posix::stream_descriptor socket_;
  boost::asio::posix::stream_descriptor words_;  // what the modules print
  boost::asio::steady_timer timer_;
  std::string answer_;
  std::string unsaid_;
  std::size_t said_ = 0;  // the number of lines
  bool told_ = false;     // the user knows why a worker was executed instead
  std::function<void()> go_;
  Lifetime lifetime_;
};

}  // namespace sml::agent
