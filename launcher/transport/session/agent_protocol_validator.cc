#include "launcher/transport/session/agent_protocol_validator.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/wire/limits.h"
#include "launcher/transport/session/validation_result.h"

namespace sml::launch {

namespace {

// More than a genuine agent sends.
constexpr std::size_t kMostRemarksOfAgent = 100'000;
constexpr std::size_t kMostCallers = 100'000;  // that wait for an answer

}  // namespace

AgentProtocolValidator::AgentProtocolValidator(const wire::Hello& hello, const wire::Prepare& prepare)
    : now_(prepare), credit_(hello.credit) {}

void AgentProtocolValidator::asked(const wire::ToAgent& message) {
  std::visit([this](const auto& m) { note(m); }, message);
}

void AgentProtocolValidator::note(const wire::Credit& m) { credit_ += m.bytes; }
void AgentProtocolValidator::note(const wire::Ping& m) { pings_.push_back(m.token); }
void AgentProtocolValidator::note(const wire::Probe& m) {
  ++probes_;
  probed_.insert(probed_.end(), m.addresses.begin(), m.addresses.end());
}
void AgentProtocolValidator::note(const wire::Inspect&) { ++inspections_; }
void AgentProtocolValidator::note(const wire::AskJoined&) { ++joins_; }
void AgentProtocolValidator::note(const wire::EndLeft&) { ++clean_ups_; }
void AgentProtocolValidator::note(const wire::CheckPeerOwnership& m) {
  for (const wire::Caller& caller : m.callers) to_vouch_for_.insert(caller.id);
}
void AgentProtocolValidator::note(const wire::PeerVerdicts& m) { callers_ -= std::min(callers_, m.rulings.size()); }
ValidationResult AgentProtocolValidator::check(const wire::ToLauncher& message) {
  return std::visit([this](const auto& m) { return judge(m); }, message);
}

ValidationResult AgentProtocolValidator::judge(const wire::HelloAck& m) {
  if (std::exchange(greeted_, true)) return broken("greeted twice");
  if (ValidationResult texts =
          all_fit(std::initializer_list<std::string_view>{m.build_id, m.machine, m.cgroup, m.scratch, m.door});
      !texts)
    return texts;
  return all_fit(m.addresses);
}

// Messages until here belonged to the previous attempt.
ValidationResult AgentProtocolValidator::judge(const wire::Prepared& m) {
  if (next_) now_ = *std::exchange(next_, std::nullopt);
  return now_.judge(m);
}

ValidationResult AgentProtocolValidator::judge(const wire::Output& m) {
  if (ValidationResult one = now_.judge(m); !one) return one;
  if (m.bytes.size() > credit_) {
    return broken("sent " + number(m.bytes.size()) + " bytes of output, and was allowed " + number(credit_));
  }
  credit_ -= m.bytes.size();
  return {};
}

ValidationResult AgentProtocolValidator::judge(const wire::Probed& m) {
  if (ValidationResult open = answered(probes_, "what it had probed,"); !open) return open;
  if (ValidationResult few = at_most(m.results.size(), probed_.size(), "results of probes"); !few) return few;
  const auto tried = [this](const wire::ProbeResult& result) {
    return std::find(probed_.begin(), probed_.end(), result.address) != probed_.end();
  };
  if (std::all_of(m.results.begin(), m.results.end(), tried)) return {};
  return broken("told of an address that it was not to try");
}

ValidationResult AgentProtocolValidator::judge(const wire::AgentLog& m) {
  if (ValidationResult few = at_most(++words_, kMostRemarksOfAgent, "remarks"); !few) return few;
  return fits(m.text);
}

ValidationResult AgentProtocolValidator::judge(const wire::Pong& m) {
  if (pings_.empty() || pings_.front() != m.token) return broken("answered a ping that nobody had sent");
  pings_.pop_front();
  return {};
}

ValidationResult AgentProtocolValidator::judge(const wire::Bye& m) { return fits(m.reason); }

ValidationResult AgentProtocolValidator::judge(const wire::Joined& m) {
  if (ValidationResult open = answered(joins_, "who has joined,"); !open) return open;
  return now_.judge(m);
}

ValidationResult AgentProtocolValidator::judge(const wire::AskPeerOwnership& m) {
  if (!now_.serves_stores()) return broken("asked about callers of stores that it does not serve");
  callers_ += m.callers.size();
  if (ValidationResult few = at_most(m.callers.size(), wire::kMaxCallers, "callers at once"); !few) return few;
  if (ValidationResult few = at_most(callers_, kMostCallers, "callers"); !few) return few;
  for (const wire::Caller& caller : m.callers) {
    const std::initializer_list<std::string_view> words{caller.address, caller.store_address};
    if (ValidationResult texts = all_fit(words); !texts) return texts;
  }
  return {};
}

ValidationResult AgentProtocolValidator::judge(const wire::PeerVerdictsOfHost& m) {
  for (const wire::PeerVerdict& ruling : m.rulings) {
    const auto asked = to_vouch_for_.find(ruling.id);
    if (asked == to_vouch_for_.end()) return broken("vouched for a caller that it was not asked about");
    to_vouch_for_.erase(asked);
  }
  return {};
}

ValidationResult AgentProtocolValidator::judge(const wire::LeftEnded& m) {
  if (ValidationResult open = answered(clean_ups_, "what it had ended,"); !open) return open;
  if (ValidationResult few = at_most(m.left.size(), wire::kMaxLeft, "processes that are left"); !few) return few;
  return all_fit(m.left);
}

ValidationResult AgentProtocolValidator::judge(const wire::Health& m) {
  constexpr std::size_t kMost = 100;
  if (ValidationResult open = answered(health_, "whether it is well,"); !open) return open;
  if (ValidationResult few = at_most(m.faults.size(), kMost, "faults"); !few) return few;
  return all_fit(m.faults);
}

ValidationResult AgentProtocolValidator::judge(const wire::HorovodNews& m) {
  constexpr std::size_t kMost = 1'000'000;
  constexpr std::size_t kLongestSlot = 512;
  if (!now_.serves_stores()) return broken("told of Horovod's store, which it does not serve");
  if (ValidationResult few = at_most(++horovod_news_, kMost, "words of Horovod's workers"); !few) return few;
  if (m.slot.size() > kLongestSlot) return broken("told of a worker by too long a name");
  return at_most(m.registration.size(), wire::kMaxRegistration, "bytes by which a worker registers");
}

ValidationResult AgentProtocolValidator::judge(const wire::HorovodAnswer& m) {
  const auto called = called_.find(m.rank);
  if (called == called_.end()) return broken("told what a worker has answered that was not called");
  called_.erase(called);
  return at_most(m.answer.size(), wire::kMaxHorovodAnswer, "bytes of a worker's answer");
}

ValidationResult AgentProtocolValidator::judge(const wire::Inspected& m) {
  if (ValidationResult open = answered(inspections_, "what its host is like,"); !open) return open;
  const plan::HostFacts& f = m.facts;
  const std::initializer_list<std::string_view> words{
      f.system, f.driver, f.user, f.device, f.shared_memory.path, f.agent_folder.path, f.working_directory.path};
  if (ValidationResult texts = all_fit(words); !texts) return texts;
  if (ValidationResult few = at_most(f.programs.size(), now_.apps(), "programs"); !few) return few;
  if (ValidationResult files = all_fit(f.programs); !files) return files;
  if (ValidationResult few = at_most(f.mpi.size(), now_.apps(), "programs"); !few) return few;
  for (const plan::MpiFinding& one : f.mpi) {
    if (ValidationResult texts = all_fit(std::initializer_list<std::string_view>{one.library, one.seen_in}); !texts)
      return texts;
  }
  return {};
}

}  // namespace sml::launch
