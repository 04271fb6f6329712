#include "launcher/transport/session/agent_session.h"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include "common/core/text.h"
#include "common/core/transition_table.h"
#include "launcher/transport/bootstrap_script.h"

namespace sml::transport {

namespace {

constexpr std::string_view kStarting = "starting the agent";

constexpr int kStarts = 3;  // while connections break

SessionEvent event_for(const wire::HelloAck&) { return SessionEvent::Hello; }
SessionEvent event_for(const wire::Prepared&) { return SessionEvent::Prepared; }
SessionEvent event_for(const wire::Probed&) { return SessionEvent::Probed; }
SessionEvent event_for(const wire::Cleared&) { return SessionEvent::Cleared; }
SessionEvent event_for(const wire::StdinCredit&) { return SessionEvent::InputTaken; }
SessionEvent event_for(const wire::Added&) { return SessionEvent::Added; }
SessionEvent event_for(const wire::Bye&) { return SessionEvent::Bye; }
template <class Message>
SessionEvent event_for(const Message&) {
  const bool at_any_time = wire::rules_of<Message>().phase == wire::Phase::Connection;
  return at_any_time ? SessionEvent::AnyTime : SessionEvent::WorkerNews;
}

SessionEvent event_of(const wire::ToLauncher& message) {
  return std::visit([](const auto& m) { return event_for(m); }, message);
}

}  // namespace

AgentSession::AgentSession(boost::asio::any_io_executor loop, SessionOwner& owner, const AgentImage& image,
                           AgentLauncher& agent_launcher, Plan plan)
    : loop_(std::move(loop)),
      owner_(owner),
      image_(image),
      agent_launcher_(agent_launcher),
      plan_(std::move(plan)),
      mark_(make_mark()) {}

void AgentSession::start() {
  ++starts_;
  arrival_ = std::make_unique<AgentArrival>(mark_, image_);
  const auto start_agent = [this](const std::string& mark, AgentDuty duty) {
    const StartLimits limits{plan_.start_limit_s, plan_.hello.heartbeat_timeout_ms};
    const bool by_host = agent_launcher_.start() == AgentLauncher::Start::ByHost;
    const std::string script = by_host ? std::string() : bootstrap_script(image_, mark, limits, duty);
    return agent_launcher_.transport(plan_.host, mark, script);
  };
  std::unique_ptr<AgentTransport> first = start_agent(mark_, AgentDuty::Serve);
  if (!first) return transport_is_local();
  ResumableLink::Again again;
  if (agent_launcher_.start() != AgentLauncher::Start::ByHost && !plan_.end_left)
    again = [start_agent](const std::string& mark) { return start_agent(mark, AgentDuty::Return); };
  transport_ = std::make_unique<ResumableLink>(loop_, image_, static_cast<TransportEvents&>(*this), std::move(first),
                                               std::move(again));
  transport_->start();
}

void AgentSession::transport_step(std::string_view step) {
  if (step_ == step) return;
  step_ = step;
  owner_.session_step(*this);
}

// Whether a command has logged in is not known, and an agent of this machine has no shell.
bool AgentSession::shell_is_silent() const {
  return machine_.state() == SessionState::Greeting && step_ == kStarting && !contact_.is_local &&
         agent_launcher_.start() == AgentLauncher::Start::ByLogin;
}

std::string AgentSession::awaited() const { return shell_is_silent() ? std::string(kShellIsSilent) : step_; }

void AgentSession::transport_is_local() {
  contact_.is_local = true;
  transport_ = std::make_unique<ResumableLink>(loop_, image_, static_cast<TransportEvents&>(*this),
                                               agent_launcher_.local_transport(mark_), nullptr);
  transport_->start();
}

void AgentSession::transport_open(std::string_view local_address, std::string_view peer_address) {
  contact_.local_address = local_address;
  contact_.peer_address = peer_address;
  transport_step(kStarting);
  static_cast<void>(machine_.on(SessionEvent::Opened));  // asks for nothing
}

void AgentSession::transport_bytes(std::span<const char> bytes) {
  contact_.last_heard = Clock::now();
  if (machine_.state() == SessionState::Ended) return;
  if (machine_.state() == SessionState::Greeting) {
    arrival_->feed(bytes);
    return greet();
  }
  decoder_.feed_in_place(bytes);
  decode();
}

void AgentSession::greet() {
  while (machine_.state() == SessionState::Greeting) {
    const Result<std::optional<SessionEvent>> next = arrival_->next(transport_->unsent());
    if (!next) return abandon(next.error());
    if (!next->has_value()) return;
    const SessionAction action = machine_.on(**next);
    if (action == SessionAction::Introduce) introduce();
    if (action != SessionAction::SendAgent) continue;
    transport_step("sending the agent");
    transport_->send_static(image_.bytes());
  }
  if (machine_.state() != SessionState::Preparing) return;
  const std::string rest = std::exchange(arrival_, nullptr)->take_rest();
  transport_->frames_came(rest.size());
  decoder_.feed(rest);
  decode();
}

void AgentSession::introduce() {
  transport_step("preparing");
  if (transport_->ends_with_guardian()) plan_.hello.pipe_end = wire::PipeEnd::Guardian;
  transmit(wire::encode(transport_->greet(plan_.hello)));
  const auto make = std::exchange(plan_.prepare, nullptr);  // which may hold the plan of the whole job
  wire::Prepare prepare;
  if (make) prepare = make(contact_.is_local ? AgentPlace::ThisMachine : AgentPlace::Remote);
  validator_.emplace(plan_.hello, prepare);
  if (plan_.end_left) {
    validator_->asked(*plan_.end_left);
    return transmit(wire::encode(*plan_.end_left) + wire::encode(wire::ToAgent(wire::Leave{})));
  }
  prepare.mark = mark_;
  transmit(wire::encode(wire::ToAgent(std::move(prepare))));
  owner_.session_greeted(*this);
}

void AgentSession::doubt() {
  if (agent_runs()) transport_->doubt();
}

void AgentSession::decode() {
  while (machine_.state() != SessionState::Ended) {
    Result<std::optional<wire::ToLauncher>> next = decoder_.next();
    if (!next) return break_off(next.error().message());
    if (!next->has_value()) break;
    if (trace_ != nullptr) trace_->received(name(), **next);
    handle(std::move(**next));
  }
  if (auto receipt = agent_runs() ? transport_->receipt() : std::nullopt) give(std::move(*receipt));
}

void AgentSession::handle(wire::ToLauncher message) {
  if (const auto* receipt = std::get_if<wire::Received>(&message)) {
    if (!transport_->acknowledge(receipt->bytes)) break_off("has received what was not sent");
    return;
  }
  const SessionEvent event = event_of(message);
  const SessionState before = machine_.state();
  const SessionAction action = machine_.on(event);
  if (action == SessionAction::Refuse) {
    return break_off("sent \"" + std::string(enum_name(event)) + "\" while " + std::string(enum_name(before)));
  }
  if (action == SessionAction::None) return;
  if (Result<void> allowed = validator_->check(message); !allowed) return break_off(allowed.error().message());
  if (std::holds_alternative<wire::GuardianReplaced>(message)) return guardian_replaced();
  if (const auto* ack = std::get_if<wire::HelloAck>(&message)) transport_->agree(*ack);
  if (machine_.state() == SessionState::Leaving) give(transport_->say_goodbye());
  if (action == SessionAction::TellReady) {
    transport_step("ready");
    return owner_.session_ready(*this, std::get<wire::Prepared>(message));
  }
  owner_.session_message(*this, std::move(message));
}

void AgentSession::guardian_replaced() {
  if (plan_.hello.pipe_end == wire::PipeEnd::Agent) return;
  agent_vanished_ = true;
  abandon(Error(ErrorKind::Lost, "the guardian of its agent was killed, and the connection to the agent ends with it"));
}

// Ignores everything that the agent sends from now on.
void AgentSession::break_off(const std::string& rule) {
  abandon(
      Error(ErrorKind::Protocol, "broke the protocol: " + rule)
          .with_hint("the program that answers there is not the agent that was started, or it has been tampered with"));
}

bool AgentSession::agent_runs() const {
  return machine_.state() != SessionState::Starting && machine_.state() != SessionState::Greeting && !ended();
}

TimePoint AgentSession::last_sent() const {
  return transport_ ? std::max(last_sent_, transport_->asked_at()) : last_sent_;
}

void AgentSession::send(const wire::ToAgent& message) {
  if (!agent_runs()) return;
  validator_->asked(message);
  give(wire::encode(message));
}

void AgentSession::give(std::string frames) {
  last_sent_ = Clock::now();
  if (held_back_) {
    *held_back_ += frames;
  } else {
    transmit(std::move(frames));
  }
}

void AgentSession::transmit(std::string frames) {
  if (trace_ != nullptr) trace_->sent(name(), frames);
  transport_->send(std::move(frames));
}

void AgentSession::suspend() {
  if (held_back_) return;
  send(wire::Suspend{});
  if (agent_runs()) held_back_.emplace();
}

void AgentSession::resume() {
  if (!held_back_) return;
  const std::string waiting = *std::exchange(held_back_, std::nullopt);
  send(wire::Resume{});
  if (agent_runs() && !waiting.empty()) transmit(waiting);
}

void AgentSession::prepare(wire::Prepare message) {
  if (machine_.on(SessionEvent::PrepareSent) == SessionAction::Refuse) return;
  transport_step("preparing");
  message.mark = mark_;
  validator_->asked(message);
  give(wire::encode(wire::ToAgent(std::move(message))));
}

void AgentSession::start_workers(const wire::Start& message, Afterwards afterwards) {
  if (machine_.on(SessionEvent::StartSent) == SessionAction::Refuse) return;
  transport_step("running");
  had_workers_ = true;
  std::string frames = wire::encode(message);
  if (afterwards == Afterwards::Leave) frames += wire::encode(wire::ToAgent(wire::Leave{}));
  give(std::move(frames));
}

void AgentSession::release() {
  const bool started = machine_.state() == SessionState::Running || machine_.state() == SessionState::Cleared;
  if (started) give(wire::encode(wire::ToAgent(wire::Leave{})));
}

void AgentSession::end_workers(const wire::Stop& message, Afterwards afterwards) {
  if (!agent_runs()) return;
  std::string frames = wire::encode(message);
  if (afterwards == Afterwards::Leave) frames += wire::encode(wire::ToAgent(wire::Leave{}));
  give(std::move(frames));
}

void AgentSession::let_go(const wire::Stop& message, Afterwards afterwards) {
  if (agent_runs()) return end_workers(message, afterwards);
  abandon(Error(ErrorKind::Lost, "not needed any more"));
}

AgentSession::Plan AgentSession::plan_of_clean_up(wire::EndLeft left) const {
  return {.host = plan_.host,
          .name = plan_.name,
          .hello = {.job_id = plan_.hello.job_id,
                    .host = plan_.name,
                    .heartbeat_timeout_ms = plan_.hello.heartbeat_timeout_ms,
                    .grace_ms = plan_.hello.grace_ms},
          .end_left = std::move(left)};
}

void AgentSession::abandon(Error why) {
  if (ended()) return;
  machine_.end();
  boost::asio::post(loop_, [this, alive = std::weak_ptr<bool>(alive_), why = std::move(why)] {
    if (alive.expired()) return;
    last_sent_ = last_sent();
    transport_.reset();
    owner_.session_ended(*this, &why);
  });
}

// A job has thousands of hosts that have ended while others run. Later, as the transport is calling this.
void AgentSession::drop_transport() {
  boost::asio::post(loop_, [this, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.expired()) return;
    last_sent_ = last_sent();
    transport_.reset();
  });
}

// Anything that an earlier start left on the host ends with its connection.
bool AgentSession::starts_again(const Error& why) {
  if (machine_.state() != SessionState::Greeting || starts_ == kStarts || contact_.is_local) return false;
  if (agent_launcher_.start() == AgentLauncher::Start::ByHost || transport_->far_side_ended()) return false;
  if (!AgentArrival::has_broken(why) || machine_.on(SessionEvent::Broken) != SessionAction::StartAgain) return false;
  boost::asio::post(loop_, [this, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired() && !ended()) start();
  });
  return true;
}

void AgentSession::transport_closed(const Error& why) {
  if (starts_again(why)) return;
  const SessionState before = machine_.state();
  const SessionAction action = machine_.on(SessionEvent::Closed);
  if (action == SessionAction::TellEnd) {
    drop_transport();
    return owner_.session_ended(*this, nullptr);
  }
  if (action != SessionAction::TellLost) return;
  if (before == SessionState::Starting) return owner_.session_ended(*this, &why);
  const bool ran = before != SessionState::Greeting;
  agent_vanished_ = ran && transport_->far_side_ended();
  const Error explained =
      ran ? Error(ErrorKind::Lost, "its agent has gone before its work was done: " + why.message())
          : arrival_->explain(why, contact_.is_local ? AgentLauncher::Start::ByLogin : agent_launcher_.start());
  owner_.session_ended(*this, &explained);
}

}  // namespace sml::transport
