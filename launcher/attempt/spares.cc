#include "launcher/attempt/spares.h"

#include <optional>
#include <string>
#include <variant>

namespace sml::attempt {

report::HostConnected connected(const fleet::Host& host, const wire::HelloAck& hello) {
  const auto place = host.session->is_local() ? report::HostPlace::ThisMachine : report::HostPlace::Remote;
  return {host.index, place, host.session->peer_address(), hello.pid};
}

void Spares::begin(std::span<fleet::Host> others) {
  for (fleet::Host& host : others) {
    if (host.session->state() == launch::SessionState::Cleared && !host.lost) health_.ask(host);
  }
}

void Spares::spare_message(fleet::Host& host, const wire::ToLauncher& message) {
  if (const auto* hello = std::get_if<wire::HelloAck>(&message)) events_.tell(connected(host, *hello));
  const auto* answer = std::get_if<wire::Health>(&message);
  const std::optional<Result<void>> news = answer != nullptr ? health_.note(host, *answer) : std::nullopt;
  if (news && !*news) host.session->abandon(news->error());
}

void Spares::spare_step(const fleet::Host& host) { events_.tell(report::HostStep{host.index, host.session->step()}); }

void Spares::spare_waits(fleet::Host& host) {
  events_.tell(report::HostReady{host.index});
  health_.ask(host);
}

// The attempt goes on without it.
void Spares::spare_ended(fleet::Host& host, const Error* why) {
  const bool over = machine_.state() == AttemptState::Leaving || machine_.state() == AttemptState::Finished;
  if (why == nullptr || over) {
    events_.tell(report::HostEnded{host.index});
  } else {
    events_.tell(report::HostFailed{host.index, *why});
    owner_.say("the spare host " + host.name() + " is out: " + why->message());
  }
  ended_();
}

}  // namespace sml::attempt
