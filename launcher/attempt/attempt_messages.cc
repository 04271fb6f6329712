// The part of Attempt that takes the messages of the agents.
#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "common/core/text.h"
#include "launcher/attempt/attempt.h"
#include "launcher/transport/session/wire_time.h"

namespace sml::attempt {

namespace {

template <class Message, class... Others>
constexpr bool kIsOneOf = (std::is_same_v<Message, Others> || ...);
// The session, the fleet or the check of hosts has handled these, so that no part of an attempt does.
template <class Message>
constexpr bool kNeedsNobody = kIsOneOf<Message, wire::Prepared, wire::Pong, wire::Inspected, wire::LeftEnded,
                                       wire::Received, wire::GuardianReplaced>;

template <class Part, class Message>
concept Handles = requires(Part& part, fleet::Host& host, const Message& m) {
  part.handle(host, m);
};

// Passes the message to the one part that handles it.
template <class Message, class... Parts>
void pass_on(fleet::Host& host, const Message& m, Parts&... parts) {
  static_assert((0 + ... + (Handles<Parts, Message> ? 1 : 0)) == (kNeedsNobody<Message> ? 0 : 1));
  const auto offer = [&]<class Part>(Part& part) {
    if constexpr (Handles<Part, Message>) part.handle(host, m);
  };
  (offer(parts), ...);
}

}  // namespace

void Attempt::host_message(fleet::Host& host, wire::ToLauncher message) {
  if (dynamic_.take(host, message)) return look_for_end();
  std::visit([&](const auto& m) { handle(host, m); }, message);
}

template <class Message>
void Attempt::handle(fleet::Host& host, const Message& m) {
  pass_on(host, m, workers_, rendezvous_, dynamic_, queries_);
}

void Attempt::handle(fleet::Host& host, const wire::HelloAck&) { context_.events.publish(connected(host)); }

void Attempt::handle(fleet::Host& host, const wire::Probed& m) {
  rendezvous_.note(host, m);
  look_at_probes();
}

void Attempt::handle(fleet::Host& host, const wire::ExitedWorker& m) {
  const Workers::End end = workers_.ended(host, m);
  const bool is_outlived = dynamic_.outlives(m.rank, wire::unpack_exit(m), end);
  const auto serves = [](const plan::RankAssignment& rank) { return rank.part != plan::Part::Worker; };
  // All workers that the serving ranks served have ended, and nothing else runs.
  if (end.was_last && (runs() || stop_sequence_.lets_save()) &&
      std::any_of(planned_.map.ranks.begin(), planned_.map.ranks.end(), serves)) {
    context_.fleet.end_workers({context_.options.stop.signal, transport::milliseconds(context_.options.grace)},
                               terms_.afterwards);
  }
  if (is_outlived || !end.failed_by_itself || context_.options.on_failure != OnFailure::Abort) return;
  if (!runs() || root_cause_wait_.stops_now(m.rank)) dispatch(AttemptEvent::WorkerFailed);
}

void Attempt::handle(fleet::Host& host, const wire::Cleared& m) {
  for (const std::string& left : m.left) facts_.left_behind.push_back(host.name() + ": " + show(left));
  if (!m.left.empty()) host.lost = true;  // a further attempt would lack whatever the remaining processes hold
  dynamic_.freed();
  if (context_.fleet.is_first(host) && terms_.afterwards == transport::Afterwards::Leave) rendezvous_.release_stores();
  look_for_end();
}

void Attempt::handle(fleet::Host& host, const wire::Bye& m) {
  if (!m.reason.empty()) return fail_host(host, Error(ErrorKind::Lost, show(m.reason)));
  const bool before_start = machine_.state() == AttemptState::Connecting || machine_.state() == AttemptState::Failing ||
                            machine_.state() == AttemptState::Probing;
  if (before_start && !readiness_.has_failed(host))
    fail_host(host, Error(ErrorKind::Lost, "its agent left before the start"));
}

void Attempt::handle(fleet::Host& host, const wire::Health& m) {
  const std::optional<Result<void>> news = health_.note(host, m);
  if (!news || readiness_.has_failed(host)) return;
  if (!*news) {
    host.lost = true;
    fail_host(host, news->error());
  }
  readiness_.look_if_ready(host);
  look_round();
}

void Attempt::handle(fleet::Host& host, const wire::MpiUse& m) {
  std::optional<Error> refusal = mpi_singleton_watch_.found(host.name(), m);
  if (!refusal || !runs()) return;
  facts_.own_fault = report::AttemptFacts::OwnFault{std::move(*refusal), Clock::now()};
  dispatch(AttemptEvent::RanksAlone);
}

void Attempt::handle(fleet::Host& host, const wire::FenceData& m) {
  const bool comes_first = wire_up_.is_first_fence(host, m);
  const Result<void> taken = wire_up_.take(host, m);
  if (taken && comes_first) context_.events.publish(report::HostAtFence{host.id});
  if (!taken && !readiness_.has_failed(host)) fail_host(host, taken.error());
}

void Attempt::handle(fleet::Host&, const wire::Relay& m) { wire_up_.hand_on(m); }

void Attempt::handle(fleet::Host& host, const wire::RankFault& m) {
  workers_.condemn(host, m);
  if (m.kind == wire::FaultKind::Silent && runs()) stop_sequence_.found_hanging(m.rank);
  // A rank that asks for the job's end (Aborted) ends the job in any case; one that is only broken or hangs counts
  // like a worker that ended.
  const bool asked = m.kind == wire::FaultKind::Aborted;
  if (!asked && context_.options.on_failure != OnFailure::Abort) return;
  if (!runs() || root_cause_wait_.stops_now(m.rank)) dispatch(AttemptEvent::WorkerFailed);
}

void Attempt::handle(fleet::Host& host, const wire::LogFailed& m) {
  context_.owner.host_log_failed(Error(ErrorKind::Io, host.name() + ": " + show(m.why, 500)));
}

void Attempt::handle(fleet::Host& host, const wire::FifoFailed& m) {
  if (!readiness_.has_failed(host)) fail_host(host, Error(ErrorKind::Io, show(m.why, 1000)));
}

}  // namespace sml::attempt
