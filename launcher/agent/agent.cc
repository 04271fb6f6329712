#include "launcher/agent/agent.h"

#include <algorithm>
#include <csignal>
#include <string>
#include <type_traits>
#include <utility>

#include <unistd.h>

#include "common/core/stop_signals.h"
#include "common/core/text.h"
#include "common/core/transition_table.h"
#include "common/os/descendants.h"
#include "common/os/process_settings.h"
#include "common/wire/limits.h"
#include "launcher/agent/core/own_clock.h"
#include "launcher/agent/core/waits.h"
#include "launcher/agent/diagnosis/host_health.h"
#include "launcher/agent/diagnosis/inspection.h"
#include "launcher/agent/os/process_stat.h"
#include "launcher/agent/stores/connection_authorizer.h"

namespace sml::agent {

namespace {

constexpr Duration kDefaultGrace = std::chrono::seconds(10);
// A timer that fires this late means that this process was stopped.
constexpr Duration kStoppedFor = std::chrono::seconds(1);
constexpr Duration kLastWords = std::chrono::seconds(10);  // a launcher that lives pings every 5 s at least

template <class Message>
AgentEvent event_for(const Message&) {
  const bool is_for_services = wire::rules_of<Message>().receiver == wire::Receiver::Services;
  return is_for_services ? AgentEvent::ForWorkers : AgentEvent::Question;
}
AgentEvent event_for(const wire::Hello& m) {
  return m.version == wire::kProtocolVersion ? AgentEvent::Hello : AgentEvent::OtherVersion;
}
AgentEvent event_for(const wire::Prepare&) { return AgentEvent::Prepare; }
AgentEvent event_for(const wire::Start&) { return AgentEvent::Start; }
AgentEvent event_for(const wire::Stop&) { return AgentEvent::Stop; }
AgentEvent event_for(const wire::Leave&) { return AgentEvent::Leave; }
AgentEvent event_for(const wire::EndLeft&) { return AgentEvent::EndLeft; }

// Whether the message is about workers whose programs must have been found.
bool needs_programs(const wire::ToAgent& message) {
  const AgentEvent event = std::visit([](const auto& m) { return event_for(m); }, message);
  return event == AgentEvent::Start || event == AgentEvent::ForWorkers ||
         std::holds_alternative<wire::Probe>(message) || std::holds_alternative<wire::Inspect>(message);
}

}  // namespace

Agent::Agent(Deps deps, Ends ends, Duration silence)
    : deps_(std::move(deps)),
      link_(deps_.system.loop, ends.in, ends.out,
            {.message = [this](wire::ToAgent m) { on_message(std::move(m)); },
             .lost = [this](const Error& why) { launcher_lost(why); },
             .drained = [this] { wake_workers(); },
             .broken =
                 [this] {
                   if (deps_.guard.is_lost()) reconnect_window_.first_pipe_ends();
                   reconnect_window_.link_broke();
                   settle();
                 }}),
      reconnect_window_(deps_.system.loop, link_,
                        [this] {
                          last_received_ = Clock::now();
                          arm_timer();
                        }),
      timer_(deps_.system.loop),
      heartbeat_timeout_(silence),
      grace_(kDefaultGrace),
      last_received_(Clock::now()),
      callers_(deps_.system.loop),
      preload_(deps_.system.loop, deps_.system.processes,
               [this](const std::string& text) {
                 link_.send(wire::AgentLog{wire::LogLevel::Warning, text});
               }),
      health_(deps_.system.loop, [this](wire::Health answer) { link_.send(std::move(answer)); }),
      file_thread_(deps_.system.loop.get_executor()) {
  if (deps_.system.file_work) return;
  deps_.system.file_work = [this](std::function<void()> work, std::function<void()> then) {
    file_thread_.post(std::move(work), std::move(then));
  };
}

void Agent::run() {
  constexpr auto kLastFiles = std::chrono::seconds(1);
  link_.start();
  arm_timer();
  deps_.system.loop.run();
  file_thread_.finish(kLastFiles);  // for the sake of a clean exit; a file system that stands still is not awaited
}

// ---- messages

void Agent::on_message(wire::ToAgent message) {
  last_received_ = Clock::now();
  if (machine_.greeted()) resume();
  const bool is_preparing = attempt_ && !attempt_->is_prepared();
  if (is_preparing && needs_programs(message)) return put_off_.push_back(std::move(message));
  take(std::move(message));
}

void Agent::take(wire::ToAgent message) {
  const AgentEvent event = std::visit([](const auto& m) { return event_for(m); }, message);
  const AgentAction action = dispatch(event, std::move(message));
  if (action == AgentAction::Unexpected) return;
  if (action != AgentAction::Answer && action != AgentAction::Pass) settle();
}

AgentAction Agent::dispatch(AgentEvent event, wire::ToAgent message) {
  const AgentState before = machine_.state();
  const AgentAction action = machine_.on(event);
  if (action == AgentAction::Unexpected && !machine_.gone()) {  // no message may follow the last one
    const std::string text =
        "its agent ignored a " + std::string(enum_name(event)) + " while " + std::string(enum_name(before));
    link_.send(wire::AgentLog{wire::LogLevel::Debug, text});
  }
  perform(action, message);
  return action;
}

void Agent::perform(AgentAction action, wire::ToAgent& message) {
  switch (action) {
    case AgentAction::None:
    case AgentAction::Unexpected: return;
    case AgentAction::Greet: return greet(std::get<wire::Hello>(message));
    case AgentAction::RefuseVersion: return refuse(std::get<wire::Hello>(message));
    case AgentAction::Prepare: return prepare(std::get<wire::Prepare>(message));
    case AgentAction::Start: return start(std::get<wire::Start>(message));
    case AgentAction::Stop: return stop(std::get_if<wire::Stop>(&message));
    case AgentAction::Abandon: return attempt_->launcher_lost();
    case AgentAction::EndLeft: return end_left(std::get<wire::EndLeft>(message));
    case AgentAction::Answer: return std::visit([this](const auto& m) { answer(m); }, message);
    case AgentAction::Pass: return attempt_->handle(message);
    case AgentAction::Clear: return link_.send(cleared());
    case AgentAction::ClearAndLeave: return leave(attempt_->is_prepared() ? wire::encode(cleared()) : std::string());
    case AgentAction::Leave: return leave({});
  }
}

void Agent::refuse(const wire::Hello& m) {
  link_.send_last(
      wire::encode(wire::ToLauncher(wire::Bye{"this agent uses protocol " + std::to_string(wire::kProtocolVersion) +
                                              ", the launcher " + std::to_string(m.version)})));
}

void Agent::greet(const wire::Hello& m) {
  heartbeat_timeout_ = std::chrono::milliseconds(m.heartbeat_timeout_ms);
  deps_.guard.allow(std::chrono::milliseconds(
      2 * std::int64_t{m.heartbeat_timeout_ms}));  // after the launcher has judged: its message has more
  grace_ = std::chrono::milliseconds(m.grace_ms);
  pipe_end_ = m.pipe_end;
  link_.grant(m.credit);
  link_.send(wire::HelloAck{
      .build_id = SML_VERSION,
      .pid = ::getpid(),
      .now_ns = nanoseconds(Clock::now()),
      .addresses = deps_.system.network.own_addresses(),
      .machine = deps_.machine,
      .cgroup = deps_.cgroup,
      .scratch = deps_.system.scratch.path(),
      .reconnect_socket = reconnect_window_.open_socket(m.return_secret, std::chrono::milliseconds(m.hold_ms),
                                                        std::chrono::milliseconds(m.guardian_hold_ms))});
  if (m.scratch == ScratchRule::Removed || deps_.system.scratch.path().empty()) return;
  deps_.system.scratch.keep();
  link_.send(wire::AgentLog{wire::LogLevel::Info, "keeps its scratch folder, " + deps_.system.scratch.path()});
}

// Destroys everything of the previous attempt before the next one gets its own.
void Agent::prepare(wire::Prepare& m) {
  for (const std::string& warning : health_.remember(m.accelerators)) {
    link_.send(wire::AgentLog{wire::LogLevel::Warning, warning});
  }
  probing_ = Lifetime();
  put_off_.clear();
  if (attempt_) {
    attempt_->sum_up();
    attempt_.reset();
    deps_.system.scratch.clear();
  }
  const std::vector<std::string> clipped = os::apply_settings(m.inherited, deps_.at_start.descriptor_limit);
  attempt_ = std::make_unique<HostAttempt>(AttemptDeps{.system = deps_.system,
                                                       .at_start = deps_.at_start,
                                                       .link = link_,
                                                       .callers = callers_,
                                                       .oom_watch = deps_.oom_watch,
                                                       .preload = preload_,
                                                       .guard = deps_.guard,
                                                       .owner = *this},
                                           grace_);
  attempt_->prepare(std::move(m), [this, clipped](wire::Prepared answer) {
    answer.limits = os::telling_limits(deps_.at_start.descriptor_limit);
    answer.warnings.insert(answer.warnings.end(), clipped.begin(), clipped.end());
    link_.send(std::move(answer));
    for (wire::ToAgent& message : std::exchange(put_off_, {})) take(std::move(message));
  });
}

// Blocks the loop, which is harmless: this agent has no other work.
void Agent::end_left(const wire::EndLeft& m) {
  Leftovers leftovers = deps_.system.processes.end_leftovers(m);
  link_.send(wire::LeftEnded{leftovers.ended, std::move(leftovers.left)});
}

void Agent::answer(const wire::Probe& m) {
  deps_.system.network.probe_addresses(
      deps_.system.loop, m.addresses, m.port, std::chrono::milliseconds(m.timeout_ms),
      probing_.guard([this](std::vector<wire::ProbeResult> results) { link_.send(wire::Probed{std::move(results)}); }));
}

void Agent::end_health_check() {
  health_look_ = Lifetime();
  health_.end();
}

void Agent::start(wire::Start& m) {
  end_health_check();
  attempt_->start(std::move(m));
}

// Null: it is we who end them. A worker that has ended before has done so by itself, though the news of it is read
// later.
void Agent::stop(const wire::Stop* m) {
  end_health_check();
  reap();
  if (m == nullptr) return attempt_->stop_by_itself();
  attempt_->stop(*m);
}

void Agent::answer(const wire::Credit& m) {
  link_.grant(m.bytes);
  wake_workers();
}

void Agent::answer(const wire::Ping& m) {
  link_.send(wire::Pong{m.token, nanoseconds(Clock::now())});
  deps_.guard.look();
}

void Agent::answer(const wire::Suspend&) {
  suspended_ = true;
  if (attempt_) attempt_->suspend();
  arm_timer();
}

void Agent::resume() {
  if (!std::exchange(suspended_, false)) return;
  if (attempt_) attempt_->resume();
  arm_timer();
}

void Agent::answer(const wire::AskJoined& m) { link_.send(attempt_ ? attempt_->joined(m) : wire::Joined{}); }

void Agent::answer(const wire::CheckPeerOwnership& m) {
  for (const wire::Caller& caller : m.callers) {
    const std::optional<os::TcpEnds> ends = ends_of(caller);
    const auto answer = [this, id = caller.id](wire::PeerOwnership ours) { rule(id, ours); };
    if (ends) {
      callers_.ask(*ends, answer);
    } else {
      answer(wire::PeerOwnership::Unknown);
    }
  }
}

// Sends all verdicts of one turn of the loop in one message.
void Agent::rule(std::uint32_t caller, wire::PeerOwnership ours) {
  unsent_verdicts_.push_back({caller, ours});
  if (unsent_verdicts_.size() == 1)
    soon(deps_.system.loop, [this] { link_.send(wire::PeerVerdictsOfHost{std::exchange(unsent_verdicts_, {})}); });
}

const WorkerEnvironments* Agent::programs() const {
  const WorkerEnvironments* workers = attempt_ ? attempt_->environments() : nullptr;
  return workers != nullptr && workers->count() > 0 ? workers : nullptr;
}

void Agent::inspect(const plan::Environment& environment, const std::string& directory,
                    std::function<void(const plan::HostFacts&)> then) {
  const auto facts = std::make_shared<plan::HostFacts>();
  deps_.system.file_work(
      [facts, environment, directory, limit = deps_.at_start.descriptor_limit] {
        *facts = inspect_host({.environment = environment, .working_directory = directory, .descriptor_limit = limit});
      },
      [facts, then = std::move(then)] { then(*facts); });
}

void Agent::answer(const wire::Inspect&) {
  const WorkerEnvironments* workers = programs();
  inspect(workers != nullptr ? workers->shared(0) : deps_.at_start.environment,
          workers != nullptr ? workers->app(0).working_directory : std::string(),
          [this](const plan::HostFacts& facts) { tell(facts); });
}

void Agent::tell(const plan::HostFacts& facts) {
  wire::Inspected answer;
  answer.facts = facts;
  const WorkerEnvironments* workers = programs();
  const bool looked = workers != nullptr && workers->has_findings();
  if (looked) answer.facts.programs = workers->programs();
  for (std::uint32_t app = 0; looked && app < workers->count(); ++app) answer.facts.mpi.push_back(workers->mpi(app));
  answer.at_ns = nanoseconds(Clock::now());
  answer.unix_ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
  link_.send(std::move(answer));
}

void Agent::answer(const wire::AskHealth& m) {
  end_health_check();
  const WorkerEnvironments* workers = programs();
  const plan::Environment environment = workers != nullptr ? workers->shared(0) : deps_.at_start.environment;
  const std::string directory = workers != nullptr ? workers->app(0).working_directory : std::string();
  inspect(environment, {}, health_look_.guard([this, m, environment, directory](const plan::HostFacts& facts) {
    health_.begin(m, plan::faults_of(facts), environment, directory);
  }));
}

// ---- leaving

bool Agent::is_own(pid_t child) const { return preload_.is(child) || health_.is(child) || deps_.guard.is(child); }

wire::ToLauncher Agent::cleared() const {
  wire::Cleared out{.attempt = attempt_->number(), .left = {}};
  for (const pid_t pid : deps_.system.processes.children()) {
    if (is_own(pid)) continue;
    if (os::process_stat("/proc/" + std::to_string(pid)).state == 'Z') continue;  // such as a health check: reaped next
    if (out.left.size() < wire::kMaxLeft) out.left.push_back(os::describe_process(pid));
  }
  return out;
}

// Sends the last message together with `words` in one write.
void Agent::leave(const std::string& words) {
  if (attempt_) attempt_->sum_up();
  link_.send_last(words + wire::encode(wire::ToLauncher(wire::Bye{told_to_end_})));
}

// The agent still reports how the workers end.
void Agent::end_by_signal(const std::string& why) {
  may_be_killed_ = true;
  if (!attempt_ || !attempt_->ending()) told_to_end_ = why;
  dispatch(AgentEvent::ToldToEnd);
}

void Agent::launcher_lost(const Error&) {
  link_.abandon();
  dispatch(AgentEvent::LauncherLost);
  settle();
}

// ---- the loop

void Agent::attempt_changed() {
  if (settling_) return;
  settling_ = true;  // once per turn of the loop, however many workers have news
  soon(deps_.system.loop, [this] {
    settling_ = false;
    settle();
  });
}

void Agent::settle() {
  if (attempt_) attempt_->settle();
  if (attempt_ && attempt_->take_end()) dispatch(AgentEvent::Over);
  if (machine_.gone() && (link_.idle() || link_.lost())) deps_.system.loop.stop();
  arm_timer();
}

void Agent::wake_workers() {
  if (machine_.gone() && link_.idle()) return deps_.system.loop.stop();
  if (attempt_) attempt_->wake();
}

void Agent::signalled(int signo) {
  heed(signo);
  settle();
}

// A stop signal that is sent to the agent (by a batch system, for example) is a request to end the job.
void Agent::heed(int signo) {
  if (signo == SIGCHLD) return reap();
  if (signo == kParentDied && deps_.guard.is_lost()) return guardian_died();
  if (!is_stop(signo)) return;  // a notice, which is for workers
  end_by_signal("its agent was asked to end by " + signal_name(signo));
}

void Agent::reap() {
  bool guardian_ended = false;
  deps_.system.processes.reap([&, now = Clock::now()](pid_t pid, const ExitStatus& status, const Usage& usage) {
    if (preload_.ended(pid, status)) return;
    guardian_ended |= deps_.guard.is(pid);
    health_.ended(pid, status);
    if (attempt_) attempt_->reaped(pid, status, usage, now);
  });
  if (guardian_ended) guardian_died();
}

void Agent::guardian_died() {
  const std::string killed = "the guardian of its agent was killed";
  if (const Result<void> made = deps_.guard.replace(); !made) {
    return end_by_signal(killed + ", and there can be no other: " + made.error().message());
  }
  if (!machine_.greeted()) return;
  reconnect_window_.first_pipe_ends();  // sshd closes it
  link_.send(wire::GuardianReplaced{});
  if (pipe_end_ == wire::PipeEnd::Guardian) return launcher_lost(Error(ErrorKind::Lost, killed));
  link_.send(wire::AgentLog{wire::LogLevel::Warning, killed + "; another guards it now"});
}

// A batch system that has asked the agent to end kills it soon, most often after 30 s: it does not wait that long for a
// launcher that may have gone to acknowledge its last message.
Duration Agent::longest_silence() const {
  return machine_.gone() && may_be_killed_ ? std::min(heartbeat_timeout_, kLastWords) : heartbeat_timeout_;
}

void Agent::arm_timer() {
  TimePoint next = link_.lost() || suspended_ ? TimePoint::max() : last_received_ + longest_silence();
  if (const auto due = reconnect_window_.due()) next = std::min(next, *due);
  if (const auto due = attempt_ ? attempt_->due() : std::nullopt) next = std::min(next, *due);
  if (next == TimePoint::max() || armed_for_ == next) return;
  armed_for_ = next;
  timer_.expires_at(next);
  when_due(timer_, [this, next] {
    armed_for_.reset();
    on_timer(next);
  });
}

void Agent::on_timer(TimePoint due) {
  const TimePoint now = Clock::now();
  if (attempt_) attempt_->on_time(now);
  if (now - due > kStoppedFor)
    last_received_ = now;  // this process was stopped itself: give the launcher one more period
  if (const auto given_up = reconnect_window_.due(); given_up && now >= *given_up) {
    return launcher_lost(Error(ErrorKind::Lost, "the launcher has not reconnected"));
  }
  if (!link_.lost() && !suspended_ && now - last_received_ >= longest_silence()) {
    // A separate reason for a launcher that was stopped and goes on later. A launcher that is cut off never reads it.
    link_.send(wire::Bye{.reason = "its agent received nothing from sml-run for " +
                                   format_duration(heartbeat_timeout_) +
                                   " and ended the workers (--heartbeat-timeout)"});
    return launcher_lost(Error(ErrorKind::Lost, "the launcher has been silent for too long"));
  }
  settle();
}

}  // namespace sml::agent
