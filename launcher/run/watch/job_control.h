// Serves sml-run ps, status, stop, signal, stacks and logs for the job that runs in this process.
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
    std::function<const plan::LaunchPlan&()> plan;
    const report::JobProgress& progress;
    const report::Goodput* goodput;  // null: not known
    std::function<bool()> workers_run;
    SignalTarget target;
    std::function<void(HostIndex host, const wire::ToAgent& message)> send;
    std::function<void(int signo, const std::string& who)> signalled;  // a signal has been sent to the workers
    std::function<void(const std::string& who)> stop;
    std::function<void(control::Form form, std::function<void(Result<std::string>)> done)> stacks;
    std::function<void(UsagePoller::Done done)> use;
  };
  JobControl(const boost::asio::any_io_executor& loop, Deps job);

  // Error: the job cannot be queried, but runs as usual.
  Result<void> open();
  void output(Rank rank, Stream stream, std::string_view bytes);
  // To be called after the last output.
  void tell_end(int exit_code, const std::string& verdict) { socket_.tell_end(exit_code, verdict); }
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
