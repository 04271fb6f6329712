#include "launcher/attempt/stop_sequence.h"

#include <csignal>
#include <utility>

#include "common/core/exit_status.h"
#include "common/core/text.h"
#include "launcher/attempt/hosts/record_query.h"
#include "launcher/transport/session/wire_time.h"

namespace sml::attempt {

StopSequence::StopSequence(Deps deps)
    : deps_(deps), pause_(deps.context.loop, deps.context.options.stop, deps.context.fleet) {}

int StopSequence::stop_signal() const {
  const int signo = deps_.facts.stop_signal.value_or(signo_);
  return signo == SIGTERM ? deps_.context.options.stop.signal : signo;
}

void StopSequence::begin() {
  if (!looked_at_) return let_save();
  signo_ = *std::exchange(looked_at_, std::nullopt);
  deps_.machine.take_longer(RecordQuery::kAll);
  deps_.deadline_timer.arm();
  deps_.context.owner.before_end([this, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired() && deps_.machine.state() == AttemptState::Stopping) let_save();
  });
}

void StopSequence::found_hanging(Rank rank) {
  if (deps_.context.options.on_failure == OnFailure::Abort) return look_before(kStacksSignal);
  deps_.context.owner.before_end([this, rank, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) deps_.context.fleet.send_all(wire::Signal{SIGKILL, {rank}, SignalTarget::Group});
  });
}

// True if workers have run, the stop is the launcher's own decision, and no worker blocks on the reader of the output.
bool StopSequence::may_save() const {
  const bool have_run = deps_.facts.first_start != TimePoint();
  const bool is_ours = !deps_.facts.stop_signal && !deps_.facts.output_gone;
  return pause_.most() > Duration::zero() && have_run && is_ours && deps_.machine.state() == AttemptState::Stopping;
}

void StopSequence::let_save() {
  if (!may_save()) return at_once();
  deps_.machine.take_longer(pause_.most());
  deps_.deadline_timer.arm();
  if (deps_.context.options.verbosity != Verbosity::Quiet) {
    deps_.context.owner.print("the workers get " + signal_name(deps_.context.options.stop.checkpoint->signo) +
                              " and up to " + format_duration(pause_.most()) +
                              " to save what they have and end (--checkpoint-signal)");
  }
  deps_.workers.are_to_end(Clock::now());
  pause_.begin([this] {
    if (deps_.machine.state() == AttemptState::Stopping) at_once();
  });
}

void StopSequence::cut_saving_short() {
  deps_.machine.take_longer(-pause_.end());
  deps_.deadline_timer.arm();
  at_once();
}

wire::Stop StopSequence::message() const {
  return {stop_signal(), transport::milliseconds(deps_.machine.grace()),
          deps_.context.options.stop.target.value_or(SignalTarget::Group)};
}

void StopSequence::give_time() {
  if (!asked_) return;
  for (fleet::Host& host : deps_.context.fleet.hosts())
    host.session->end_workers(message(), transport::Afterwards::Stay);
}

void StopSequence::at_once() {
  asked_ = true;
  const wire::Stop stop = message();
  const bool leaving = no_more_ || deps_.machine.state() == AttemptState::Leaving;
  for (fleet::Host& host : deps_.context.fleet.hosts()) {
    if (!host.runs() && !host.session->ended()) deps_.readiness.release(host);
    host.session->let_go(stop, leaving ? transport::Afterwards::Leave : deps_.afterwards);
  }
  if (!leaving) deps_.rendezvous.count_joined();
  const bool no_more = leaving || deps_.afterwards == transport::Afterwards::Leave;
  for (fleet::Host& spare : deps_.context.fleet.others()) {
    if (no_more) spare.session->let_go(stop, transport::Afterwards::Leave);
  }
}

}  // namespace sml::attempt
