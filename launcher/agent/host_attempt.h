// The workers of one host during one attempt, from their plan to the end of the last process that they leave behind,
// with all services that they use. Destroyed with the attempt.
//
// HostMachine and WorkerMachine make the decisions; this class turns signals and timers into their events,
// and their actions into system calls.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/wire/messages.h"
#include "launcher/agent/core/lifetime.h"
#include "launcher/agent/machines/host_machine.h"
#include "launcher/agent/mpi/mpi_watch.h"
#include "launcher/agent/workers/attempt_deps.h"
#include "launcher/agent/workers/dynamic_workers.h"
#include "launcher/agent/workers/orphans.h"
#include "launcher/agent/workers/rank_news.h"
#include "launcher/agent/workers/services.h"
#include "launcher/agent/workers/worker_environments.h"
#include "launcher/agent/workers/worker_group.h"
#include "launcher/agent/workers/worker_starter.h"

namespace sml::agent {

class HostAttempt final : private WorkerOwner, private ServiceOwner {
 public:
  // `grace` is the grace period if the launcher is lost, or if the stop does not come from it.
  HostAttempt(const AttemptDeps& deps, Duration grace);
  HostAttempt(const HostAttempt&) = delete;
  HostAttempt& operator=(const HostAttempt&) = delete;

  // To be called first, and once. Starts no worker. `answer` gets what the launcher must know before the start, with
  // the preflight errors: within this call, or later from the loop, as file systems may take any time to find the
  // programs. It gets an empty Prepared if the launcher's stop comes first; it is not called at all if the attempt ends
  // otherwise.
  using Answer = std::function<void(wire::Prepared)>;
  void prepare(wire::Prepare plan, Answer answer);
  bool is_prepared() const { return answer_ == nullptr; }            // the answer has been given
  std::uint32_t number() const { return service_context_.attempt; }  // Prepare::attempt
  // Starts the workers once the imports of --preload are over: within this call, or later from the loop. Does not start
  // them if the attempt has been stopped by then.
  void start(wire::Start message);
  // Ends the workers with the signal and the grace of `m`; see HostMachine::stop() for further calls. Before the
  // workers have been started, this ends the attempt at once.
  void stop(const wire::Stop& m);
  void stop_by_itself();
  // Ends the workers as stop_by_itself() does, and discards their output.
  void launcher_lost();

  // Returns true once, when the attempt is over: no process of the workers is left, or the ones that are left could not
  // be ended. The latter remain children of this process.
  bool take_end() { return over() && !std::exchange(end_taken_, true); }
  bool ending() const;  // true if the workers have been asked to end, or all have ended

  // Sends the workers' reports and advances the machine. The owner must call it after each call that may change the
  // state of the attempt, and after attempt_changed().
  void settle();
  // To be called for each child of the agent that has been reaped, also if it was not a worker.
  void reaped(pid_t pid, const ExitStatus& status, const Usage& usage, TimePoint now);
  std::optional<TimePoint> due() const;  // when to call on_time(); nullopt: there is no deadline
  void on_time(TimePoint now);

  void wake() { workers_.wake(*this); }  // output may be sent again
  // Sends SIGSTOP or SIGCONT to the workers and to all children of the agent but a guardian.
  void suspend();
  void resume();
  void handle(const wire::ToAgent& message);  // messages for workers or services
  // How many ranks have found each other so far.
  wire::Joined joined(const wire::AskJoined& asked) const;
  // Makes the services send what they have only counted so far.
  void sum_up() const;
  // Null before prepare().
  const WorkerEnvironments* environments() const { return starter_ ? &starter_->environments() : nullptr; }

 private:
  // WorkerOwner
  std::size_t output_allowance() const override;
  // True also once the link is lost: send_output_of() would leave the bytes in the pipe then.
  bool looks_at_output() const override { return !readers_.empty() || deps_.link.lost(); }
  void worker_output(Rank rank, wire::Stream stream, TimePoint read_at, std::string_view bytes) override;
  void worker_output_of(int pipe, Rank rank, wire::Stream stream, TimePoint read_at, std::size_t size) override {
    deps_.link.send_output_of(pipe, rank, stream, read_at, size);
  }
  void worker_took_input(Rank rank, std::size_t bytes) override;
  void worker_changed() override { deps_.owner.attempt_changed(); }
  void worker_without_terminal(Rank rank, const Error& why) override;
  void worker_ignored(Rank rank, const std::string& what) override { news_.report_ignored(rank, what); }

  // ServiceOwner
  void send(const wire::ToLauncher& message) override { deps_.link.send(message); }
  // Does nothing if a fault of the rank has been reported before. A Broken fault also kills the rank's process.
  void fail_rank(Rank rank, wire::FaultKind kind, int code, const std::string& why) override;
  void say_for(Rank rank, Stream stream, const std::string& text) override { workers_.say_for(rank, stream, text); }
  bool output_flows() const override { return output_allowance() > 0; }
  void moved_on() override;

  void prepare_with(wire::Prepare plan, const std::vector<Error>& missing);  // once the programs have been looked for
  bool over() const { return machine_.state() == HostState::Gone; }
  void dispatch(HostEvent event);
  void perform(HostAction action);
  void spawn_all();
  void signal_all(int signo);          // workers by their process groups, and orphans
  void signal_descendants(int signo);  // the workers' process groups, and all children of the agent but a guardian
  void look_round();                   // sends the machine the events that are due: all reaped, all done, nothing left
  void look_for_mpi(TimePoint now);
  // Reports a fault of a rank that has ended with status 0 if its MPI ran without the other ranks.
  void look_if_it_was_alone(Rank rank);
  void end_services() const;
  void additions_changed();  // workers were added, or are not awaited any more

  AttemptDeps deps_;
  HostMachine machine_;
  WorkerGroup workers_;
  Orphans orphans_;
  SignalTarget stop_target_ = SignalTarget::Group;  // for signals before SIGKILL
  ServiceContext service_context_;
  std::optional<WorkerStarter> starter_;  // set by prepare()
  Answer answer_;                         // of prepare(); null before that, and when it has been given
  HostServices services_;
  DynamicWorkers additions_{deps_, *this, workers_, services_, [this] { additions_changed(); }};
  std::vector<HostService*> readers_;  // services that read output
  wire::Start start_;                  // kept for services until they are started
  MpiWatch mpi_watch_;
  RankNews news_;
  bool end_taken_ = false;
  bool terminals_missed_ = false;  // a worker has a pipe in the place of a terminal, and the launcher knows
  Lifetime lifetime_;
};

}  // namespace sml::agent
