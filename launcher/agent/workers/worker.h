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

// The interface through which a worker calls its owner. A call may come from within the owner's own call to the worker.
class WorkerOwner {
 public:
  virtual ~WorkerOwner() = default;
  // The number of output bytes that may be read from the worker now. If it is 0, the owner calls Worker::wake() when
  // that changes.
  virtual std::size_t output_allowance() const = 0;
  // True if the owner needs to see the bytes, so that they must be passed to worker_output().
  virtual bool looks_at_output() const = 0;
  // Gets output of the worker; `bytes` are valid during the call only.
  virtual void worker_output(Rank rank, wire::Stream stream, TimePoint read_at, std::string_view bytes) = 0;
  // Like worker_output(), for `size` bytes that are still in the pipe. The owner must take them from it in this call.
  virtual void worker_output_of(int pipe, Rank rank, wire::Stream stream, TimePoint read_at, std::size_t size) = 0;
  // That many bytes of feed() have been written to the worker's pipe, or dropped because the worker reads no more.
  virtual void worker_took_input(Rank rank, std::size_t bytes) = 0;
  // The worker has a report for take_report(). The owner must take it soon.
  virtual void worker_changed() = 0;
  // The worker's stdout is a pipe, although the plan asks for a terminal: `why` is the reason why there is none.
  virtual void worker_without_terminal(Rank rank, const Error& why) = 0;
  // The worker's machine has ignored an event, which `what` describes; for debugging.
  virtual void worker_ignored(Rank rank, const std::string& what) = 0;
};

// One thread: that of the loop.
class Worker {
 public:
  // All references outlive the worker.
  Worker(boost::asio::io_context& loop, Processes& processes, WorkerOwner& owner, wire::Worker spec);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Data for the start that is not in the spec. Spans and pointers need to be valid only during spawn().
  struct SpawnParameters {
    std::string program;
    std::span<const std::string> argv;
    std::span<const std::string> environment;
    std::string working_directory;
    int empty_input = -1;  // becomes stdin unless the launcher feeds this worker; the caller's
    unsigned long descriptor_limit = 0;
    int pipe_size = 0;  // of stdout and stderr, if larger than the system's default
    std::span<const int> ignored_signals;
    std::span<const os::KernelCall> settings{};
    // Become 3, 4, ... of the worker; the pipe of its results, if it has one, follows. They stay the caller's.
    std::span<const int> more_descriptors{};
    std::function<std::variant<pid_t, SpawnFailed>(const os::WorkerProcess&)> start;  // as Processes::start()
  };
  // Starts the process. On failure the machine is Done and `status()` has the reason.
  void spawn(const SpawnParameters& parameters);
  // To be called in the place of spawn() if something that the worker needs cannot be made: it then counts as failed.
  void give_up(const SpawnFailed& why);

  // Does nothing before the process has been started, and after it has been reaped.
  void signal(int signo, SignalTarget target = SignalTarget::Group);
  // Notes that the agent ends this worker: its end is then reported as wire::EndedBy::Us. Sends no signal.
  void ask_to_stop() { dispatch(WorkerEvent::StopAsked); }
  // To be called when the process has been reaped.
  void reaped(const ExitStatus& status, const Usage& usage, TimePoint now);
  // Queues bytes for standard input; never blocks.
  void feed(const std::string& bytes);
  void feed_end();  // closes standard input after the queued bytes
  // Adds text that is not the worker's own to its output. Drops the text if that output has ended, or if more than
  // kMostOwnText bytes of such text would wait to be sent.
  void print(wire::Stream stream, std::string_view text);
  static constexpr std::size_t kMostOwnText = std::size_t{64} << 10;
  void wake();  // the owner's output_allowance() is no longer 0
  // Once drain_deadline() has passed, gives up on output that another process still holds open.
  void check_drain(TimePoint now);

  Rank rank() const { return spec_.rank; }
  const wire::Worker& spec() const { return spec_; }
  pid_t pid() const { return pid_; }
  const WorkerMachine& machine() const { return machine_; }
  // When to call check_drain(); nullopt if the process has not been reaped, its output has ended, or the output
  // that it wrote itself may not be read now (no allowance).
  std::optional<TimePoint> drain_deadline() const;
  // Returns the report that the machine has requested, and clears it; None if there is none.
  WorkerAction take_report() { return std::exchange(report_, WorkerAction::None); }
  const ExitStatus& status() const { return status_; }
  const Usage& usage() const { return usage_; }  // valid after its end
  // When the agent reaped the process, or failed to start it.
  TimePoint ended_at() const { return ended_at_; }

 private:
  struct Output {
    Output(boost::asio::io_context& loop, wire::Stream the_stream) : pipe(loop), stream(the_stream) {}
    boost::asio::posix::stream_descriptor pipe;
    wire::Stream stream;
    bool is_pipe = true;   // false: a terminal
    bool starved = false;  // readable, but there is no allowance
    std::size_t owed = 0;  // after the worker's end: the number of unread bytes that it may have written itself
    std::string own_text;  // text of print() that waits for an allowance; it is sent before anything is read
  };

  Result<os::Pipe> make_stdout();
  void dispatch(WorkerEvent event);
  void await_output(Output& output);
  void read_output(Output& output);
  void send_own_text(Output& output);
  // Passes output to worker_output_of(). Returns false, without a change, if the output must be read instead.
  bool move_output(Output& output, std::size_t allowed);
  void took(Output& output, std::size_t size, TimePoint now);  // notes bytes that were read
  void starve(Output& output);                                 // stops reading until wake()
  static std::size_t unread(Output& output);
  std::array<Output*, 3> outputs() { return {&stdout_, &stderr_, &results_}; }
  bool owes_output();  // the worker's own output may not have been read completely
  void output_ended(Output& output);
  void discard_output();  // drops unread output by closing the read ends
  void write_input();
  void close_input();

  Processes& processes_;
  WorkerOwner& owner_;
  wire::Worker spec_;
  WorkerMachine machine_;
  DrainClock drain_;
  WorkerAction report_ = WorkerAction::None;  // not taken yet
  pid_t pid_ = -1;                            // -1: not started
  ExitStatus status_;
  Usage usage_;
  TimePoint ended_at_;
  Output stdout_;
  Output stderr_;
  Output results_;                               // closed unless the plan wants results
  boost::asio::posix::stream_descriptor stdin_;  // closed unless the launcher feeds this worker
  std::string input_;                            // waits to be written to stdin_
  std::string writing_;                          // is being written to stdin_
  bool input_ends_ = false;                      // feed_end() was called
  Lifetime lifetime_;
};

}  // namespace sml::agent
