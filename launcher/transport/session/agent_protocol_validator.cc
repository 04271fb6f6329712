#include "launcher/transport/session/agent_protocol_validator.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/wire/limits.h"
#include "launcher/transport/session/validation_result.h"

namespace sml::transport {

namespace {

// More than a genuine agent sends.
constexpr std::size_t kMostRemarksOfAgent = 100'000;
constexpr std::size_t kMostCallers = 100'000;  // that wait for an answer

}  // namespace

AgentProtocolValidator::AgentProtocolValidator(const wire::Hello& hello, const wire::Prepare& prepare)
    : now_(prepare), credit_(hello.credit) {}

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
    return validate(m);
  };
  return std::visit(check_one, message);
}

ValidationResult AgentProtocolValidator::validate(const wire::HelloAck&) {
  return std::exchange(greeted_, true) ? broken("greeted twice") : ValidationResult();
}

// Messages until here belonged to the previous attempt.
ValidationResult AgentProtocolValidator::validate(const wire::Prepared& m) {
  if (next_) now_ = std::move(*std::exchange(next_, nullptr));
  return now_.validate(m);
}

ValidationResult AgentProtocolValidator::validate(const wire::Output& m) {
  if (ValidationResult one = now_.validate(m); !one) return one;
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

ValidationResult AgentProtocolValidator::validate(const wire::AgentLog&) {
  return at_most(++words_, kMostRemarksOfAgent, "remarks");
}

ValidationResult AgentProtocolValidator::validate(const wire::Pong& m) {
  if (pings_.empty() || pings_.front() != m.token) return broken("answered a ping that nobody had sent");
  pings_.erase(pings_.begin());
  return {};
}

ValidationResult AgentProtocolValidator::validate(const wire::AskPeerOwnership& m) {
  if (!now_.serves_stores()) return broken("asked about callers of stores that it does not serve");
  callers_ += m.callers.size();
  if (ValidationResult few = at_most(m.callers.size(), wire::kMaxCallers, "callers at once"); !few) return few;
  return at_most(callers_, kMostCallers, "callers");
}

ValidationResult AgentProtocolValidator::validate(const wire::PeerVerdictsOfHost& m) {
  for (const wire::PeerVerdict& ruling : m.verdicts) {
    const auto asked = peers_to_check_.find(ruling.id);
    if (asked == peers_to_check_.end()) return broken("vouched for a caller that it was not asked about");
    peers_to_check_.erase(asked);
  }
  return {};
}

ValidationResult AgentProtocolValidator::validate(const wire::LeftEnded& m) {
  return at_most(m.left.size(), wire::kMaxLeft, "processes that are left");
}

ValidationResult AgentProtocolValidator::validate(const wire::Health& m) {
  constexpr std::size_t kMost = 100;
  return at_most(m.problems.size(), kMost, "faults");
}

ValidationResult AgentProtocolValidator::validate(const wire::HorovodNews& m) {
  constexpr std::size_t kMost = 1'000'000;
  constexpr std::size_t kLongestSlot = 512;
  if (!now_.serves_stores()) return broken("sent a message of Horovod's store, which it does not serve");
  if (ValidationResult few = at_most(++horovod_news_, kMost, "words of Horovod's workers"); !few) return few;
  if (m.slot.size() > kLongestSlot) return broken("sent a worker's name that is too long");
  return at_most(m.registration.size(), wire::kMaxRegistration, "bytes by which a worker registers");
}

ValidationResult AgentProtocolValidator::validate(const wire::HorovodAnswer& m) {
  const auto called = called_.find(m.rank);
  if (called == called_.end()) return broken("sent an answer of a worker that was not called");
  called_.erase(called);
  return at_most(m.answer.size(), wire::kMaxHorovodAnswer, "bytes of a worker's answer");
}

ValidationResult AgentProtocolValidator::validate(const wire::Inspected& m) {
  if (ValidationResult few = at_most(m.facts.programs.size(), now_.apps(), "programs"); !few) return few;
  return at_most(m.facts.mpi.size(), now_.apps(), "programs");
}

}  // namespace sml::transport
