#include "launcher/run/job_signals.h"

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "common/core/stop_signals.h"
#include "launcher/os/heeded_stops.h"
#include "launcher/report/live/status_text.h"

namespace sml::run {

namespace {

bool contains(const std::vector<int>& list, int signo) { return std::count(list.begin(), list.end(), signo) > 0; }

}  // namespace

JobSignals::JobSignals(boost::asio::io_context& loop, Deps job) : deps_(std::move(job)), signals_(loop) {
  for (const int signo : os::heeded_stops()) signals_.add(signo);
  for (const int signo : {SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP}) signals_.add(signo);
  for (const int signo : deps_.options.forward_signals) signals_.add(signo);
  if (deps_.options.progress.status_signal) signals_.add(*deps_.options.progress.status_signal);
}

void JobSignals::await() {
  signals_.async_wait([this](boost::system::error_code error, int signo, const std::string& sender) {
    if (error) return;
    heed({sender, {}, signo});
    await();
  });
}

void JobSignals::heed(const Stop& stop) {
  const int signo = stop.signo;
  StatusLine* line = deps_.console.status();
  if (signo == SIGWINCH && line != nullptr) line->redraw();
  if (signo == SIGCONT && line != nullptr) line->cursor_moved();
  if (signo == deps_.options.progress.status_signal) return print_status();
  if (signo == SIGTSTP) return suspend();
  if (signo == SIGCONT || contains(deps_.options.forward_signals, signo)) {
    const SignalTarget target = target_of(signo, deps_.options.stop.target.value_or(SignalTarget::Group));
    deps_.fleet.send_all(wire::Signal{signo, {}, target});
    return deps_.events.publish(report::SignalCame{signo, report::SignalUse::PassedOn});
  }
  if (!is_stop(signo)) return;
  deps_.events.publish(report::SignalCame{signo, report::SignalUse::StopsJob});
  deps_.stop(stop);
}

// Handles Ctrl-Z.
void JobSignals::suspend() {
  deps_.events.publish(report::SignalCame{SIGTSTP, report::SignalUse::SuspendsJob});
  if (deps_.console.status() != nullptr) deps_.console.status()->hide();
  deps_.fleet.suspend([this] {
    deps_.process.stop();
    if (deps_.console.status() != nullptr) deps_.console.status()->show();
  });
}

void JobSignals::print_status() {
  deps_.events.publish(report::SignalCame{*deps_.options.progress.status_signal, report::SignalUse::PrintsStatus});
  for (const std::string& line : report::status_table(deps_.progress, Clock::now())) deps_.console.print(line);
}

}  // namespace sml::run
