#include "launcher/dialin/step/step_caller.h"

#include <optional>
#include <utility>
#include <variant>

#include "common/plan/machine/host.h"

namespace sml::dialin {

StepCaller::StepCaller(StepCallerOwner& owner, std::shared_ptr<Link> link, Ends ends, ConnectionLimiter::Id id)
    : owner_(owner), link_(std::move(link)), ends_(std::move(ends)), id_(id) {}

void StepCaller::begin(StepProgramEvents& events, const std::string& script) {
  events_ = &events;
  begun_ = true;
  link_->send(encode(ToPeer(Begin{script})));
}

void StepCaller::send(std::string_view bytes) {
  send_in_pieces(bytes, [this](Bytes piece) { link_->send(encode(ToPeer(std::move(piece)))); });
}

void StepCaller::dismiss() {
  link_->send(encode(ToPeer(JobEnd{})));
  link_->finish();
}

void StepCaller::refuse(const Refused& refused) {
  link_->send(encode(ToPeer(refused)));
  link_->finish();
}

void StepCaller::abandon() {
  gone_ = true;
  events_ = nullptr;
  link_->abandon();
}

void StepCaller::link_bytes(std::span<const char> bytes) {
  const std::shared_ptr<StepCaller> self = shared_from_this();  // an event may have its owner drop it
  reader_.feed(bytes);
  while (!gone_) {
    const Result<std::optional<ToCoordinator>> message = reader_.next();
    if (!message) return leave(message.error());
    if (!*message) return;
    if (!handle(**message)) return leave(Error(ErrorKind::Protocol, "a message that does not belong here"));
  }
}

void StepCaller::link_closed(const Error& why) { leave(why); }

// Returns false for what is not to come now.
bool StepCaller::handle(const ToCoordinator& message) {
  if (const auto* introduction = std::get_if<Introduction>(&message)) {
    if (!host_.empty() || !plan::valid_host_name(introduction->host)) return false;
    host_ = introduction->host;
    link_->known();
    if (introduction->version != kProtocolVersion) {
      refuse({Reason::Version, 0, "it is of another version"});
    } else {
      owner_.caller_introduces(*this);
    }
    return true;
  }
  if (!begun_) return false;
  if (events_ == nullptr) return true;
  if (const auto* bytes = std::get_if<Bytes>(&message)) {
    events_->program_says(bytes->bytes);
    return true;
  }
  const auto* ended = std::get_if<AgentEnded>(&message);
  if (ended == nullptr) return false;
  std::exchange(events_, nullptr)->program_ended(ended->text);
  leave(Error(ErrorKind::Lost, ""));
  return true;
}

void StepCaller::leave(const Error& why) {
  if (std::exchange(gone_, true)) return;
  link_->abandon();
  if (StepProgramEvents* events = std::exchange(events_, nullptr)) events->program_lost(why);
  owner_.caller_is_gone(*this);
}

}  // namespace sml::dialin
