#include "launcher/run/job_signals.h"

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "common/core/stop_signals.h"
#include "common/os/heeded_stops.h"
#include "launcher/report/status_text.h"

namespace sml::run {

namespace {

bool contains(const std::vector<int>& list, int signo) { return std::count(list.begin(), list.end(), signo) > 0; }

}  // namespace

JobSignals::JobSignals(boost::asio::io_context& loop, Job job) : job_(std::move(job)), signals_(loop) {
  for (const int signo : os::heeded_stops()) signals_.add(signo);
  for (const int signo : {SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP}) signals_.add(signo);
  for (const int signo : job_.options.forward_signals) signals_.add(signo);
  if (job_.options.progress.status_signal) signals_.add(*job_.options.progress.status_signal);
}

void JobSignals::await() {
  signals_.async_wait([this](boost::system::error_code error, int signo) {
    if (error) return;
    came(signo);
    await();
  });
}

void JobSignals::heed(const Stop& stop) {
  const int signo = stop.signo;
  StatusLine* line = job_.console.status();
  if (signo == SIGWINCH && line != nullptr) line->redraw();
  if (signo == SIGCONT && line != nullptr) line->cursor_moved();
  if (signo == job_.options.progress.status_signal) return print_status();
  if (signo == SIGTSTP) return suspend();
  if (signo == SIGCONT || contains(job_.options.forward_signals, signo)) {
    const SignalTarget target = target_of(signo, job_.options.stop.target.value_or(SignalTarget::Group));
    job_.fleet.tell_all(wire::Signal{signo, {}, target});
    return job_.events.tell(report::SignalCame{signo, report::SignalUse::PassedOn});
  }
  if (!is_stop(signo)) return;
  job_.events.tell(report::SignalCame{signo, report::SignalUse::StopsJob});
  job_.stop(stop);
}

// Handles Ctrl-Z.
void JobSignals::suspend() {
  job_.events.tell(report::SignalCame{SIGTSTP, report::SignalUse::SuspendsJob});
  if (job_.console.status() != nullptr) job_.console.status()->hide();
  job_.fleet.suspend([this] {
    job_.process.stop();
    if (job_.console.status() != nullptr) job_.console.status()->show();
  });
}

void JobSignals::print_status() {
  job_.events.tell(report::SignalCame{*job_.options.progress.status_signal, report::SignalUse::PrintsStatus});
  for (const std::string& line : report::status_table(job_.progress, Clock::now())) job_.console.say(line);
}

}  // namespace sml::run
