// Serves sml-run ps, status, stop, signal, stacks and logs for the job that runs in this process, by a local socket.
// Used on the loop's thread.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/stream.h"
#include "common/plan/launch_plan.h"
#include "common/wire/messages.h"
#include "launcher/control/control_socket.h"
#include "launcher/report/live/job_progress.h"
#include "launcher/report/live/output_tail.h"
#include "launcher/run/watch/usage_poller.h"

namespace sml::run {

class JobControl {
 public:
  struct Deps {
    std::function<const plan::LaunchPlan&()> plan;  // of the current attempt
    const report::JobProgress& progress;            // outlives this
    const report::Goodput* goodput;                 // null: not known; else outlives this
    std::function<bool()> workers_run;
    SignalTarget target;  // which processes of a worker get a signal
    std::function<void(HostIndex host, const wire::ToAgent& message)> send;
    // A signal has been sent to the workers; `who` is the message about it for the user.
    std::function<void(int signo, const std::string& who)> signalled;
    std::function<void(const std::string& who)> stop;  // `who` has asked for the end of the job
    std::function<void(control::Form form, std::function<void(Result<std::string>)> done)> stacks;
    std::function<void(UsagePoller::Done done)> use;
  };
  JobControl(const boost::asio::any_io_executor& loop, Deps job);

  // Begins to serve. Error: the job cannot be queried, but runs as usual.
  Result<void> open();
  // A rank has printed `bytes`, for `sml-run logs`.
  void output(Rank rank, Stream stream, std::string_view bytes);
  // Sends the outcome to processes that follow the job; to be called after the last output.
  void send_end(int exit_code, const std::string& verdict) { socket_.send_end(exit_code, verdict); }
  void close() { socket_.close(); }

 private:
  report::JobSummary summary() const;
  std::string status(control::Form form, const report::LiveUses& uses) const;
  Result<std::string> signal(const control::Request& request) const;
  std::string_view tail(Rank rank, Stream stream) const;
  static std::size_t place(Rank rank, Stream stream) {
    return std::size_t{rank.value()} * 2 + (stream == Stream::Stdout ? 0 : 1);
  }

  Deps deps_;
  std::vector<report::OutputTail> tails_;  // two per rank; empty: the job cannot be queried
  control::ControlSocket socket_;
};

}  // namespace sml::run
