// The workers of one host, by rank and by process, and operations on all of them.
#pragma once
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <sys/types.h>

#include <boost/asio/io_context.hpp>

#include "common/core/clock.h"
#include "common/core/exit_status.h"
#include "common/core/stream.h"
#include "launcher/agent/core/network.h"
#include "launcher/agent/mpi/mpi_watch.h"
#include "launcher/agent/workers/worker.h"

namespace sml::agent {

class WorkerGroup {
 public:
  // `processes` outlives the group.
  explicit WorkerGroup(Processes& processes) : processes_(processes) {}

  // Adds a worker that has not been started. Does not start it.
  void add(boost::asio::io_context& loop, WorkerOwner& owner, wire::Worker spec);

  std::span<const std::unique_ptr<Worker>> all() const { return workers_; }
  std::size_t count() const { return workers_.size(); }
  std::vector<const wire::Worker*> specs() const;
  // Writes to a worker's standard input, if it runs on this host.
  void feed(Rank rank, const std::string& bytes) const;
  void feed_end(Rank rank) const;
  // Adds text to a worker's output, if it runs on this host: see Worker::print().
  void say_for(Rank rank, Stream stream, std::string_view text) const;

  // To be called after the worker's process has started.
  void started(Worker& worker) { by_pid_[worker.pid()] = &worker; }
  // Returns the worker that ran as this process, which has been reaped; null if it was no worker.
  Worker* reaped(pid_t pid, const ExitStatus& status, const Usage& usage, TimePoint now);
  bool is_worker(pid_t pid) const { return by_pid_.contains(pid); }
  std::set<pid_t> pids() const;                         // of the workers that have been started and not reaped
  std::size_t alive() const { return by_pid_.size(); }  // the number of these
  bool all_reaped() const;                              // none of them is left; true also before the start
  bool all_done() const;  // all have been reaped, or failed to start, and their output has ended or been given up
  std::vector<MpiWatch::Candidate> candidates() const;  // all workers that are alive
  // The ranks that are alive and have no process in their group with a connection to `port`.
  std::vector<Rank> without_connection(std::uint16_t port, Network& network) const;

  void signal(Rank rank, int signo) const;
  void signal(const wire::Signal& message) const;  // the ranks that it names, or all if it names none
  // Sends every worker the signal, then SIGCONT; from now on its end counts as the agent's doing.
  void ask_to_stop(int signo, SignalTarget target) const;
  // Output may be read again: wakes workers in turn as long as `owner` has an allowance, so that one worker's flood
  // does not use up the credit of all.
  void wake(const WorkerOwner& owner);
  std::optional<TimePoint> drain_deadline() const;  // the earliest of all workers; nullopt if there is none
  void check_drain(TimePoint now) const;

 private:
  Worker* find(Rank rank) const;

  Processes& processes_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unordered_map<Rank, Worker*> by_rank_;
  std::unordered_map<pid_t, Worker*> by_pid_;  // started and not reaped
  std::size_t next_to_wake_ = 0;
};

}  // namespace sml::agent
