// One worker process with its pipes. Drives a WorkerMachine.
#pragma once
#include <array>
#include <functional>
#include <optional>
#include <string>

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "common/core/error.h"
#include "common/core/exit_status.h"
#include "common/os/fd.h"
#include "common/os/spawn.h"
#include "common/wire/messages.h"
#include "launcher/agent/core/lifetime.h"
#include "launcher/agent/core/processes.h"
#include "launcher/agent/machines/worker_machine.h"

namespace sml::agent {

// The interface through which a worker calls its owner, also from within the owner's calls to the worker.
class WorkerOwner {
 public:
  virtual ~WorkerOwner() = default;
  // The number of output bytes that may be taken from the worker now; if 0, wake() is called when that changes.
  virtual std::size_t output_allowance() const = 0;
  // True if the owner needs to see the bytes, so that they must be passed to worker_output().
  virtual bool looks_at_output() const = 0;
  virtual void worker_output(Rank rank, wire::Stream stream, TimePoint read_at, std::string_view bytes) = 0;
  // Like worker_output(), for `size` bytes that are still in the pipe; the owner moves them without seeing them.
  virtual void worker_output_of(int pipe, Rank rank, wire::Stream stream, TimePoint read_at, std::size_t size) = 0;
  // Bytes of standard input that the worker has taken.
  virtual void worker_took_input(Rank rank, std::size_t bytes) = 0;
  // The machine requests an action, or an output has ended: the owner must call settle().
  virtual void worker_changed() = 0;
  // Its stdout is a pipe, as the host has no terminal for it.
  virtual void worker_without_terminal(Rank rank, const Error& why) = 0;
  // It did not expect something; for those who debug.
  virtual void worker_ignored(Rank rank, const std::string& what) = 0;
};

class Worker {
 public:
  // All references outlive the worker.
  Worker(boost::asio::io_context& loop, Processes& processes, WorkerOwner& owner, wire::Worker spec);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Data that differs between workers and is not in the spec.
  struct SpawnParameters {
    std::string program;
    std::span<const std::string> argv;
    std::span<const std::string> environment;
    std::string working_directory;
    int empty_input = -1;
    unsigned long descriptor_limit = 0;
    int pipe_size = 0;  // of stdout and stderr, if larger than the system's default
    std::span<const int> ignored_signals;
    const os::ProcessBinding* binding = nullptr;
    std::span<const int> more_descriptors{};  // 3, 4, ... of the worker, then the pipe of its results; the caller's
    std::function<std::variant<pid_t, SpawnFailed>(const os::WorkerProcess&)> start;  // as Processes::start()
  };
  // Starts the process. On failure the machine is Done and `status()` has the reason.
  void spawn(const SpawnParameters& parameters);
  // Replaces spawn() if something that the worker needs cannot be had.
  void give_up(const SpawnFailed& why);

  void signal(int signo, SignalTarget target = SignalTarget::Group);  // does nothing once it has been reaped
  void ask_to_stop() { dispatch(WorkerEvent::StopAsked); }
  void reaped(const ExitStatus& status, const Usage& usage, TimePoint now);
  void feed(const std::string& bytes);  // to standard input
  void feed_end();
  // Adds text of another process to the worker's output; drops it once the output has ended, or while kMostSaid bytes
  // wait.
  void print(wire::Stream stream, std::string_view text);
  static constexpr std::size_t kMostSaid = std::size_t{64} << 10;
  void wake();  // output may be read again
  void check_drain(TimePoint now);

  Rank rank() const { return spec_.rank; }
  const wire::Worker& spec() const { return spec_; }
  pid_t pid() const { return pid_; }
  const WorkerMachine& machine() const { return machine_; }
  std::optional<TimePoint> drain_deadline() const;
  // Returns the report that the machine has requested, and clears it; None if there is none.
  WorkerAction take_report() { return std::exchange(report_, WorkerAction::None); }
  const ExitStatus& status() const { return status_; }
  const Usage& usage() const { return usage_; }  // valid after its end
  TimePoint ended_at() const { return ended_at_; }

 private:
  struct Output {
    Output(boost::asio::io_context& loop, wire::Stream the_stream) : pipe(loop), stream(the_stream) {}
    boost::asio::posix::stream_descriptor pipe;
    wire::Stream stream;
    bool is_pipe = true;
    bool starved = false;  // readable, but there is no allowance
    std::size_t owed = 0;  // after the worker's end: bytes to read that may be its own
    std::string said;      // for it, and not sent for want of allowance: before what is read
  };

  Result<os::Pipe> make_stdout();
  void dispatch(WorkerEvent event);
  void await_output(Output& output);
  void read_output(Output& output);
  void send_said(Output& output);
  bool move_output(Output& output, std::size_t allowed);
  void took(Output& output, std::size_t size, TimePoint now);  // notes bytes that were read
  void starve(Output& output);
  static std::size_t unread(Output& output);
  std::array<Output*, 3> outputs() { return {&stdout_, &stderr_, &results_}; }
  bool owes_output();
  void output_ended(Output& output);
  void discard_output();  // drops unread output by closing the read ends
  void write_input();
  void close_input();

  Processes& processes_;
  WorkerOwner& owner_;
  wire::Worker spec_;
  WorkerMachine machine_;
  DrainClock drain_;
  WorkerAction report_ = WorkerAction::None;
  pid_t pid_ = -1;
  ExitStatus status_;
  Usage usage_;
  TimePoint ended_at_;
  Output stdout_;
  Output stderr_;
  Output results_;  // closed unless the plan wants results
  boost::asio::posix::stream_descriptor stdin_;
  std::string input_;
  std::string writing_;
  bool input_ends_ = false;
  Lifetime lifetime_;
};

}  // namespace sml::agent
