#include "launcher/transport/session/agent_protocol_validator.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/wire/limits.h"
#include "launcher/transport/session/validation_result.h"

namespace sml::transport {

namespace {

constexpr std::size_t kMostCallers = 100'000;  // that wait for an answer; more than a genuine agent has

}  // namespace

AgentProtocolValidator::AgentProtocolValidator(const wire::Hello& hello, const wire::Prepare& prepare)
    : now_(prepare), credit_(hello.credit) {
  ++unanswered_[wire::index_in_to_agent<wire::Hello>()];
}

void AgentProtocolValidator::asked(const wire::ToAgent& message) {
  ++unanswered_[message.index()];
  std::visit([this](const auto& m) { note(m); }, message);
}

void AgentProtocolValidator::note(const wire::Credit& m) { credit_ += m.bytes; }
void AgentProtocolValidator::note(const wire::Ping& m) { pings_.push_back(m.token); }
void AgentProtocolValidator::note(const wire::Probe& m) {
  probed_.insert(probed_.end(), m.addresses.begin(), m.addresses.end());
}
void AgentProtocolValidator::note(const wire::CheckPeerOwnership& m) {
  for (const wire::Caller& caller : m.callers) peers_to_check_.insert(caller.id);
}
void AgentProtocolValidator::note(const wire::PeerVerdicts& m) { callers_ -= std::min(callers_, m.verdicts.size()); }

template <class Message>
ValidationResult AgentProtocolValidator::answered() {
  std::uint32_t& unanswered = unanswered_[wire::index_in_to_agent<typename Message::Answers>()];
  if (unanswered == 0) {
    return broken("sent an answer that nobody had asked for: " + std::string(wire::message_name<Message>()));
  }
  --unanswered;
  return {};
}

ValidationResult AgentProtocolValidator::check(const wire::ToLauncher& message) {
  const auto check_one = [this]<class Message>(const Message& m) -> ValidationResult {
    if constexpr (wire::Reply<Message>) {
      if (ValidationResult asked = answered<Message>(); !asked) return asked;
    }
    if (ValidationResult texts = texts_fit(m); !texts) return texts;
    // Messages until here belonged to the previous attempt.
    if (std::is_same_v<Message, wire::Prepared> && next_) now_ = std::move(*std::exchange(next_, nullptr));
    if (ValidationResult valid = now_.check(m, sent_in_all_); !valid) return valid;
    return validate(m);
  };
  return std::visit(check_one, message);
}

ValidationResult AgentProtocolValidator::validate(const wire::Output& m) {
  if (m.bytes.size() > credit_) {
    return broken("sent " + number(m.bytes.size()) + " bytes of output, and was allowed " + number(credit_));
  }
  credit_ -= m.bytes.size();
  return {};
}

ValidationResult AgentProtocolValidator::validate(const wire::Probed& m) {
  if (ValidationResult few = at_most(m.results.size(), probed_.size(), "results of probes"); !few) return few;
  const auto tried = [this](const wire::ProbeResult& result) {
    return std::find(probed_.begin(), probed_.end(), result.address) != probed_.end();
  };
  if (!std::all_of(m.results.begin(), m.results.end(), tried)) {
    return broken("sent the result of an address that it was not asked to try");
  }
  if (unanswered_[wire::index_in_to_agent<wire::Probe>()] == 0) probed_ = std::vector<std::string>();
  return {};
}

ValidationResult AgentProtocolValidator::validate(const wire::Pong& m) {
  if (pings_.empty() || pings_.front() != m.token) return broken("answered a ping that nobody had sent");
  pings_.erase(pings_.begin());
  return {};
}

ValidationResult AgentProtocolValidator::validate(const wire::AskPeerOwnership& m) {
  if (!now_.serves_stores()) return broken("asked about callers of stores that it does not serve");
  return at_most(callers_ += m.callers.size(), kMostCallers, "callers");
}

ValidationResult AgentProtocolValidator::validate(const wire::PeerVerdictsOfHost& m) {
  for (const wire::PeerVerdict& ruling : m.verdicts) {
    const auto asked = peers_to_check_.find(ruling.id);
    if (asked == peers_to_check_.end()) return broken("checked a caller that it was not asked about");
    peers_to_check_.erase(asked);
  }
  return {};
}

ValidationResult AgentProtocolValidator::validate(const wire::HorovodNews& m) {
  constexpr std::size_t kLongestSlot = 512;
  if (!now_.serves_stores()) return broken("sent a message of Horovod's store, which it does not serve");
  if (m.slot.size() > kLongestSlot) return broken("sent a worker's name that is too long");
  return {};
}

ValidationResult AgentProtocolValidator::validate(const wire::HorovodAnswer& m) {
  const auto called = called_.find(m.rank);
  if (called == called_.end()) return broken("sent an answer of a worker that was not called");
  called_.erase(called);
  return {};
}

}  // namespace sml::transport
