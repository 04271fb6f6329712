#include "launcher/attempt/stop_sequence.h"

#include <csignal>
#include <utility>

#include "common/core/exit_status.h"
#include "common/core/text.h"
#include "launcher/attempt/record_query.h"
#include "launcher/launch/wire_time.h"

namespace sml::attempt {

StopSequence::StopSequence(const boost::asio::any_io_executor& loop, Of attempt)
    : of_(std::move(attempt)), pause_(loop, of_.options.stop, of_.fleet) {}

int StopSequence::stop_signal() const {
  const int signo = of_.facts.stop_signal.value_or(signo_);
  return signo == SIGTERM ? of_.options.stop.signal : signo;
}

void StopSequence::begin() {
  if (!looked_at_) return let_save();
  signo_ = *std::exchange(looked_at_, std::nullopt);
  of_.machine.take_longer(RecordQuery::kAll);
  of_.moved();
  of_.owner.before_end([this, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired() && of_.machine.state() == AttemptState::Stopping) let_save();
  });
}

void StopSequence::found_hanging(Rank rank) {
  if (of_.options.on_failure == OnFailure::Abort) return look_before(kStacksSignal);
  of_.owner.before_end([this, rank, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) of_.fleet.tell_all(wire::Signal{SIGKILL, {rank}, SignalTarget::Group});
  });
}

// True if workers have run, the stop is the launcher's own decision, and no worker blocks on the reader of the output.
bool StopSequence::may_save() const {
  const bool have_run = of_.facts.first_start != TimePoint();
  const bool is_ours = !of_.facts.stop_signal && !of_.facts.output_gone;
  return pause_.most() > Duration::zero() && have_run && is_ours && of_.machine.state() == AttemptState::Stopping;
}

void StopSequence::let_save() {
  if (!may_save()) return at_once();
  of_.machine.take_longer(pause_.most());
  of_.moved();
  if (of_.options.verbosity != Verbosity::Quiet) {
    of_.owner.say("the workers get " + signal_name(of_.options.stop.checkpoint->signo) + " and up to " +
                  format_duration(pause_.most()) + " to save what they have and end (--checkpoint-signal)");
  }
  of_.workers.are_to_end(Clock::now());
  pause_.begin([this] {
    if (of_.machine.state() == AttemptState::Stopping) at_once();
  });
}

void StopSequence::cut_saving_short() {
  of_.machine.take_longer(-pause_.end());
  of_.moved();
  at_once();
}

void StopSequence::at_once() {
  const SignalTarget target = of_.options.stop.target.value_or(SignalTarget::Group);
  const wire::Stop stop{stop_signal(), launch::milliseconds(of_.machine.grace()), target};
  const bool leaving = no_more_ || of_.machine.state() == AttemptState::Leaving;
  for (fleet::Host& host : of_.fleet.hosts()) {
    if (host.runs()) {
      host.session->end_workers(stop, leaving ? launch::Afterwards::Leave : of_.afterwards);
    } else if (!host.session->ended()) {
      of_.roster.release(host);
      host.session->abandon(Error(ErrorKind::Lost, "not needed any more"));
    }
  }
  if (!leaving) of_.meeting.count_joined();
  const bool no_more = leaving || of_.afterwards == launch::Afterwards::Leave;
  for (fleet::Host& spare : of_.fleet.others()) {
    if (no_more) let_go(spare, stop);
  }
}

void StopSequence::let_go(fleet::Host& host, const wire::Stop& stop) {
  if (host.runs()) return host.session->end_workers(stop, launch::Afterwards::Leave);
  if (!host.session->ended()) host.session->abandon(Error(ErrorKind::Lost, "not needed any more"));
}

}  // namespace sml::attempt
