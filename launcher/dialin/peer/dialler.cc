#include "launcher/dialin/peer/dialler.h"

#include <csignal>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/exit_status.h"
#include "common/core/text.h"
#include "common/core/transition_table.h"
#include "common/os/side_thread.h"
#include "launcher/dialin/link.h"
#include "launcher/dialin/peer/coordinator_connection.h"
#include "launcher/dialin/peer/dial_machine.h"
#include "launcher/dialin/peer/local_agent_relay.h"
#include "launcher/inputs/hosts/host_source.h"
#include "launcher/os/heeded_stops.h"
#include "launcher/os/last_signals.h"
#include "launcher/os/stop_rule.h"
#include "launcher/output/notice_pace.h"
#include "launcher/transport/session/deadline_timer.h"

namespace sml::dialin {

namespace {

namespace asio = boost::asio;

constexpr std::size_t kLongestReason = 500;

class Dialler final : private CoordinatorConnectionOwner, private LocalAgentRelayOwner {
 public:
  Dialler(const DialPlan& plan, const transport::AgentImage& image,
          const std::function<void(const std::string&)>& print, std::unique_ptr<Credentials> credentials)
      : plan_(plan),
        print_([this, print](const std::string& text) { printer_.post([print, text] { print(text); }, [] {}); }),
        printer_(loop_->get_executor()),
        credentials_(std::move(credentials)),
        machine_(plan.timeout, plan.grace, Clock::now()),
        deadline_timer_(loop_->get_executor(), {.deadline = [this] { return machine_.deadline(); },
                                                .passed = [this] { dispatch(DialEvent::Deadline); }}),
        waiting_timer_(*loop_),
        signals_(*loop_),
        agent_(loop_->get_executor(), plan, image, *this),
        call_(loop_, {plan.settings.head, plan.settings.port}, plan.heartbeat_timeout, *credentials_, *this) {
    for (const int signo : os::heeded_stops()) signals_.add(signo);
  }
  ~Dialler() override { agent_.stop_preparing(); }

  Outcome run() {
    await_signals();
    tell_waiting();
    deadline_timer_.arm();
    agent_.prepare();
    call_.begin();
    loop_->run();
    agent_.end_what_it_left(print_);
    signals_.let_go();  // so that they end a wait for a terminal that takes nothing
    static_cast<void>(printer_.finish(Duration::max()));
    return std::move(outcome_);
  }

 private:
  // ---- connecting

  void call_is_proved() override {
    const Settings& s = plan_.settings;
    Introduction introduction{.version = kProtocolVersion,
                              .job = s.job,
                              .attempt = s.attempt,
                              .build = s.build,
                              .job_settings = s.job_settings,
                              .index = s.own_index,
                              .host = s.hosts[s.own_index],
                              .calls = plan_.unable ? Calls::ToSayWhyNot : Calls::WithPlan,
                              .share = s.share.value_or(plan::HostShare())};
    if (s.place == PlaceRule::ChosenByHead) {
      introduction.index = kAnyPlace;
      introduction.host.clear();
      introduction.preferred = s.preferred.value_or(kAnyPlace);
    }
    call_.introduce(introduction);
    if (s.place == PlaceRule::ChosenByHead) dispatch(DialEvent::Proved);
    ask_to_stop();
  }

  void fail(const Error& why) {
    call_.abandon();
    last_fault_ = why;
    dispatch(why.kind() == ErrorKind::Auth ? DialEvent::Refused : DialEvent::Failed);
  }

  // Perhaps connected, but not accepted.
  bool is_outside() const { return machine_.state() == DialState::Calling || machine_.state() == DialState::Waiting; }

  void tell_waiting() {
    waiting_timer_.expires_at(pace_.due());
    waiting_timer_.async_wait([this](boost::system::error_code error) {
      if (error || (!is_outside() && machine_.state() != DialState::Resting)) return;
      const TimePoint now = Clock::now();
      const bool proved = machine_.state() == DialState::Waiting;
      print_((proved ? "waiting for the other hosts of the job at " : "waiting for the head, ") + where() +
             (proved || last_fault_.message().empty() ? std::string() : " (" + last_fault_.message() + ")") + ", " +
             format_duration(std::chrono::floor<std::chrono::seconds>(pace_.waited(now))) + " of " +
             format_duration(plan_.timeout));
      pace_.printed(now);
      tell_waiting();
    });
  }

  std::string where() const { return plan_.settings.head + " port " + std::to_string(plan_.settings.port); }

  // ---- messages of the coordinator

  void call_brings(const ToPeer& message) override {
    if (machine_.state() == DialState::Over || machine_.state() == DialState::Resting) return;
    std::visit([this](const auto& m) { handle(m); }, message);
  }

  void call_ends(const Error& why) override {
    if (is_outside()) return fail(why);
    last_fault_ = why;
    dispatch(DialEvent::HeadLost);
  }

  void handle(const Welcome& m) {
    if (!is_outside()) return;
    const Settings& s = plan_.settings;
    const bool chosen = s.place == PlaceRule::ChosenByHead;
    if (const Result<void> checked = PlanVerifier::check_welcome(m, s); !checked) return fail(checked.error());
    check_.emplace([this, m](const AttemptParameters& choice) { return plan_.compute(m, choice); }, plan_.attempts);
    const std::string name = m.place < s.hosts.size() ? s.hosts[m.place] : name_of_place(m.place);
    const std::string of_all = !s.needs_all() ? " of " + std::to_string(m.hosts) + " hosts" : "";
    print_("the head has answered: " + where() + " (" + call_.peer() + ")" +
           (chosen ? "; this is " + name + of_all : std::string()));
    call_.agree(m.ticket);
    dispatch(DialEvent::Welcomed);
    ask_to_stop();
  }

  void handle(const Refused& m) {
    if (!is_outside()) return;
    const Error why(ErrorKind::Auth, "the head turns this host away: " + show(m.text, kLongestReason));
    call_.abandon();
    last_fault_ = why;
    dispatch(may_change(m, plan_.settings.attempt) ? DialEvent::Failed : DialEvent::Refused);
  }

  void handle(const Begin& m) {
    if (machine_.state() != DialState::Serving || agent_.asked_for()) return;
    if (const Result<void> checked = check_->take_mark(m.mark); !checked) return distrust(checked.error());
    agent_.start(m.mark);
  }

  void handle(const Bytes& m) {
    if (distrust_ || !check_) return;
    Result<std::string> allowed = check_->pass(m.bytes);
    if (!allowed) return distrust(allowed.error());
    agent_.send(std::move(*allowed));
  }

  // The other end is not the coordinator of this job, or this host was started differently than the coordinator.
  // Reports the mismatch to it and closes the connection.
  void distrust(const Error& why) {
    distrust_ = why;
    call_.send(AgentEnded{why.message().substr(0, kMaxPiece)});
    call_.finish();
    dispatch(DialEvent::HeadLost);
  }

  void handle(const EndInput&) { agent_.end_input(); }

  void handle(const Alive&) {}
  void handle(const Acknowledge&) {}
  void handle(const Resumed&) {}

  void handle(const JobEnd& m) {
    if (machine_.state() != DialState::Serving) return;
    outcome_ = {m.exit_code, show(m.text, kLongestReason), m.failure, agent_.unprepared()};
    judged_ = true;
    call_.say_goodbye();
    dispatch(DialEvent::VerdictCame);
  }

  // ---- the local agent

  void agent_bytes(std::string_view bytes) override {
    send_in_pieces(bytes, [this](Bytes piece) { call_.send(std::move(piece)); });
  }
  void agent_ended(const Error& why) override {
    call_.send(AgentEnded{why.message().substr(0, kMaxPiece)});
    dispatch(DialEvent::AgentEnded);
  }
  // Reports this to the coordinator as the end of the agent.
  void agent_cannot_start(const Error& why) override {
    const auto kind = static_cast<std::uint8_t>(why.kind());
    call_.send(AgentEnded{why.message().substr(0, kMaxPiece), kind});
  }

  // ---- actions of the state machine

  void dispatch(DialEvent event) {
    const DialState before = machine_.state();
    const DialAction action = machine_.on(event, Clock::now());
    deadline_timer_.arm();
    if (action == DialAction::Unexpected && plan_.verbosity == Verbosity::Verbose) print_(ignored(event, before));
    switch (action) {
      case DialAction::None:
      case DialAction::Unexpected:
      case DialAction::Rest: return;
      case DialAction::Call: return call_.begin();
      case DialAction::GiveUp: return give_up();
      case DialAction::EndAgent: return end_agent();
      case DialAction::Leave: return leave();
    }
  }

  void give_up() {
    if (stop_asked_) return leave_unanswered();
    const std::string why = last_fault_.message().empty() ? "it does not answer" : last_fault_.message();
    const bool refused = last_fault_.kind() == ErrorKind::Auth;
    outcome_.fault =
        Error(refused ? ErrorKind::Auth : ErrorKind::Timeout,
              (refused ? "cannot join the job at " + where()
                       : "the head, " + where() + ", was not there after " + format_duration(plan_.timeout)) +
                  ": " + why)
            .with_hint(refused ? "start every host with the same secret, program and options"
                               : "--start-timeout waits longer");
    if (agent_.unprepared()) outcome_.fault = agent_.unprepared();
    outcome_.exit_code = exit_code_of(outcome_.fault->kind());
    loop_->stop();
  }

  void end_agent() {
    if (agent_.runs() && machine_.state() == DialState::Deserted && !distrust_) {
      print_("the head has gone: " + last_fault_.message());
    }
    if (!agent_.end()) asio::post(*loop_, [this] { dispatch(DialEvent::AgentEnded); });
  }

  void leave() {
    if (distrust_) {
      outcome_.fault = distrust_;
      outcome_.exit_code = exit_code_of(distrust_->kind());
    } else if (!judged_) {
      outcome_.fault = Error(ErrorKind::Lost, "the head, " + where() + ", has gone: " + last_fault_.message());
      outcome_.exit_code = exit_code_of(ErrorKind::Lost);
    }
    loop_->stop();
  }

  void await_signals() {
    signals_.async_wait([this](boost::system::error_code error, int signo, const std::string& sender) {
      if (error) return;
      on_signal(signo, sender);
      await_signals();
    });
  }

  // The other hosts wait for this one or work with it, so the coordinator must receive the stop, also if it has not
  // answered yet. Except where the job can begin without this host: then this host just leaves.
  // The coordinator knows the host only, and takes its signal for insisting when the host sends it again. So who has
  // sent what is judged here, and whoever insists has the first signal sent again.
  void on_signal(int signo, const std::string& sender) {
    if (machine_.state() == DialState::Leaving || machine_.state() == DialState::Deserted) return;
    const os::StopEffect effect = stop_rule_.heed(sender, signo, Clock::now());
    if (effect == os::StopEffect::Echoes) return;
    if (effect == os::StopEffect::Joins) return print_(signal_name(signo) + " joins the stop that is under way");
    const bool is_in = machine_.state() == DialState::Serving;
    stop_asked_ = stop_asked_.value_or(signo);
    if (!is_in && (!plan_.settings.needs_all() || effect == os::StopEffect::Insists)) return leave_unanswered();
    if (!is_in) machine_.hurry(Clock::now() + plan_.grace, Clock::now());
    deadline_timer_.arm();
    ask_to_stop();
    print_(is_in ? "asking the head to stop the job (" + signal_name(signo) + ")"
                 : "stopping (" + signal_name(signo) + "); the head, " + where() + ", is to be notified within " +
                       format_duration(plan_.grace));
  }

  void ask_to_stop() {
    if (!stop_asked_) return;
    const StopAsked asked{static_cast<std::uint8_t>(*stop_asked_)};
    if (machine_.state() == DialState::Serving) call_.send(asked);
    if (machine_.state() == DialState::Waiting) call_.introduce(asked);
  }

  void leave_unanswered() {
    const int signo = *stop_asked_;
    outcome_ = {128 + signo, "stopped by " + signal_name(signo) + " before the head had answered", "", std::nullopt};
    loop_->stop();
  }

  const DialPlan& plan_;
  const std::function<void(const std::string&)> print_;  // on the thread of printer_, as a terminal may take nothing
  std::shared_ptr<asio::io_context> loop_ = std::make_shared<asio::io_context>(1);
  os::SideThread printer_;
  std::unique_ptr<Credentials> credentials_;
  std::optional<PlanVerifier> check_;  // once the coordinator has sent Welcome
  std::optional<Error> distrust_;      // the request of the coordinator that does not match this host's plan
  DialMachine machine_;
  transport::DeadlineTimer deadline_timer_;
  NoticePace pace_{Clock::now()};  // of the lines about the head, which is awaited
  asio::steady_timer waiting_timer_;
  os::LastSignals signals_;
  LocalAgentRelay agent_;
  CoordinatorConnection call_;
  Error last_fault_;
  Outcome outcome_;
  bool judged_ = false;
  os::StopRule stop_rule_;
  std::optional<int> stop_asked_;
};

}  // namespace

Outcome dial(const DialPlan& plan, const transport::AgentImage& image,
             const std::function<void(const std::string& text)>& print) {
  ::signal(SIGPIPE, SIG_IGN);
  Result<std::unique_ptr<Credentials>> credentials =
      make_credentials(Side::Host, plan.settings.key, plan.settings.peer_proof);
  if (!credentials) return {exit_code_of(credentials.error().kind()), "", "", credentials.error()};
  return Dialler(plan, image, print, std::move(*credentials)).run();
}

}  // namespace sml::dialin
