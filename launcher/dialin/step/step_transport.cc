#include "launcher/dialin/step/step_transport.h"

#include <utility>

namespace sml::dialin {

namespace {

constexpr char kNotStarted[] = "the agent did not start";

}  // namespace

StepTransport::StepTransport(std::shared_ptr<StepCalls> calls, std::string host, std::string script, Error no_program,
                             Instead instead)
    : calls_(std::move(calls)),
      host_(std::move(host)),
      script_(std::move(script)),
      no_program_(std::move(no_program)),
      instead_(std::move(instead)) {}

StepTransport::~StepTransport() {
  calls_->forget(*this);
  if (caller_) caller_->abandon();
}

void StepTransport::start(transport::TransportEvents& events) {
  events_ = &events;
  calls_->await(*this);
}

void StepTransport::send(std::string bytes) {
  if (other_) return other_->send(std::move(bytes));
  if (caller_ && !caller_->is_gone()) caller_->send(bytes);
}

std::size_t StepTransport::unsent() const {
  if (other_) return other_->unsent();
  return caller_ ? caller_->unsent() : 0;
}

bool StepTransport::far_side_ended() const { return other_ ? other_->far_side_ended() : ended_; }

bool StepTransport::far_side_ended_well() const { return other_ ? other_->far_side_ended_well() : ended_well_; }

void StepTransport::finish() {
  if (other_) return other_->finish();
  if (caller_ && !caller_->is_gone()) caller_->end_input();
}

void StepTransport::host_calls(const std::shared_ptr<StepCaller>& caller) {
  caller_ = caller;
  caller_->begin(*this, script_);
  events_->transport_step("starting the agent");
  events_->transport_open(caller_->ends().near, caller_->ends().far);
}

void StepTransport::host_fails(const Error& why) { events_->transport_closed(Error(why).in(kNotStarted)); }

void StepTransport::host_lacks_program() {
  other_ = instead_ ? instead_() : nullptr;
  if (!other_) return events_->transport_closed(Error(no_program_).in(kNotStarted));
  other_->start(*events_);
}

// If its step has ended, too, no agent waits there for another connection.
void StepTransport::program_lost(const Error& why) {
  calls_->find_fate(host_, [this, why, here = std::weak_ptr<bool>(here_)](const std::optional<Error>& end) {
    if (here.expired()) return;
    ended_ = end.has_value();
    events_->transport_closed(end ? *end : why);
  });
}

void StepTransport::program_ended(const std::string& text) {
  ended_ = true;
  ended_well_ = text.empty();
  calls_->has_left(host_);
  events_->transport_closed(Error(ErrorKind::Lost, text.empty() ? "the agent has ended" : text));
}

}  // namespace sml::dialin
