#include "launcher/dialin/dialler.h"

#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include "common/core/exit_status.h"
#include "common/core/text.h"
#include "common/os/spawn.h"
#include "launcher/dialin/agent_traces.h"
#include "launcher/dialin/dial_machine.h"
#include "launcher/dialin/link.h"
#include "launcher/dialin/port.h"
#include "launcher/launch/clean_up.h"
#include "launcher/launch/local_reach.h"
#include "launcher/launch/process_transport.h"
#include "launcher/names/addresses.h"
#include "launcher/net/tcp_connect.h"

namespace sml::dialin {

namespace {

namespace asio = boost::asio;

constexpr Duration kConnectLimit = std::chrono::seconds(10);
constexpr Duration kTellWaiting = std::chrono::seconds(5);
constexpr std::size_t kMaxShown = 500;
constexpr std::uint32_t kCleanUpSilenceMs = 30'000;  // the clean-up is over before

class Dialler final : private LinkEvents, private launch::TransportEvents {
 public:
  Dialler(const DialPlan& plan, const launch::AgentImage& image, const std::function<void(const std::string&)>& say,
          std::unique_ptr<Credentials> credentials)
      : plan_(plan),
        image_(image),
        say_(say),
        credentials_(std::move(credentials)),
        machine_(plan.patience, plan.grace, Clock::now()),
        deadline_timer_(*loop_),
        silence_timer_(*loop_),
        waiting_timer_(*loop_),
        signals_(*loop_, SIGINT, SIGTERM, SIGQUIT) {
    const std::vector<int> ignored = os::ignored_signals();
    if (std::find(ignored.begin(), ignored.end(), SIGHUP) == ignored.end()) signals_.add(SIGHUP);
  }
  ~Dialler() override {
    cancel_->cancel();
    preparation_.reset();
    if (link_) link_->abandon();
    pool_->stop();
    static_cast<void>(pool_.release());  // joining its thread could take as long as a name server does
  }

  Outcome run() {
    await_signals();
    tell_waiting();
    arm_deadline();
    prepare();
    call();
    loop_->run();
    end_what_it_left();
    return std::move(outcome_);
  }

 private:
  // ---- what comes before the agent

  void prepare() {
    unprepared_ = plan_.unable;
    if (plan_.chore == nullptr) return;
    ready_ = false;
    preparation_.emplace(loop_->get_executor(), *plan_.chore, [this](const Result<void>& done) {
      ready_ = true;
      if (!done) unprepared_ = done.error();
      if (mark_) start_agent();
    });
  }

  // The head is told of a failure in the place of the agent.
  void start_agent() {
    if (machine_.state() != DialState::Serving) return;
    if (unprepared_) {
      const auto kind = static_cast<std::uint8_t>(unprepared_->kind());
      return link_->send(encode(ToHead(AgentEnded{unprepared_->message().substr(0, kMaxPiece), kind})));
    }
    traces_.emplace(*mark_);
    agent_ = launch::make_local_transport(loop_->get_executor(), image_, *mark_, plan_.environment);
    agent_->start(*this);
  }

  // Of an agent that was killed together with those that watch over it. The head cannot come here for that.
  void end_what_it_left() {
    const bool vanished = agent_ && !(agent_over_ && agent_->far_side_ended_well());
    agent_.reset();
    if (!vanished || !traces_->found()) return;
    asio::io_context loop(1);  // nothing else happens any more
    const std::string& name = plan_.settings.hosts[plan_.settings.own_index];
    launch::LocalReach reach(loop.get_executor(), image_, plan_.environment);
    launch::CleanUp(loop, image_, reach, say_)
        .run({{.host = HostId(plan_.settings.own_index),
               .name = name,
               .hello = {.job_id = {}, .host = name, .heartbeat_timeout_ms = kCleanUpSilenceMs},
               .prepare_local = {},
               .prepare_remote = {},
               .end_left = traces_->found()}});
  }

  // ---- calling

  void call() {
    asio::post(*pool_, [this, loop = loop_, cancel = cancel_, head = plan_.settings.head, port = plan_.settings.port] {
      auto answer = std::make_shared<Result<os::UniqueFd>>(os::UniqueFd());
      if (const auto addresses = names::addresses_of(head, port, AF_UNSPEC); addresses) {
        *answer = net::connect_to(*addresses, kConnectLimit, *cancel);
      } else {
        *answer = addresses.error();
      }
      if (cancel->cancelled()) return;
      asio::post(*loop, [this, answer, cancel] {
        if (!cancel->cancelled()) connected(std::move(*answer));
      });
    });
  }

  void connected(Result<os::UniqueFd> socket) {
    if (machine_.state() != DialState::Calling) return;
    if (!socket) return fail(socket.error());
    peer_ = far_address(socket->get());
    Result<std::shared_ptr<Link>> link = make_link(loop_->get_executor(), std::move(*socket), *credentials_);
    if (!link) return fail(link.error());
    reader_ = {};
    link_ = std::move(*link);
    link_->start(*this);
  }

  void link_proved() override {
    const Settings& s = plan_.settings;
    Introduction introduction{.version = kProtocolVersion,
                              .job = s.job,
                              .attempt = s.attempt,
                              .build = s.build,
                              .plan = s.plan,
                              .index = s.own_index,
                              .host = s.hosts[s.own_index],
                              .calls = plan_.unable ? Calls::ToSayWhyNot : Calls::WithPlan};
    if (s.place == PlaceRule::ChosenByHead) {
      introduction.index = kAnyPlace;
      introduction.host.clear();
      introduction.wished = s.wished.value_or(kAnyPlace);
    }
    link_->send(encode(ToHead(introduction)));
    if (s.place == PlaceRule::ChosenByHead) tell(DialEvent::Proved);
  }

  void fail(const Error& why) {
    if (link_) link_->abandon();
    last_fault_ = why;
    tell(why.kind() == ErrorKind::Auth ? DialEvent::Refused : DialEvent::Failed);
  }

  // Connected, perhaps, and not let in.
  bool is_outside() const { return machine_.state() == DialState::Calling || machine_.state() == DialState::Waiting; }

  void tell_waiting() {
    waiting_timer_.expires_after(kTellWaiting);
    waiting_timer_.async_wait([this](boost::system::error_code error) {
      if (error || (!is_outside() && machine_.state() != DialState::Resting)) return;
      const bool proved = machine_.state() == DialState::Waiting;
      say_((proved ? "waiting for the other hosts of the job at " : "waiting for the head, ") + where() +
           (proved || last_fault_.message().empty() ? std::string() : " (" + last_fault_.message() + ")"));
      tell_waiting();
    });
  }

  std::string where() const { return plan_.settings.head + " port " + std::to_string(plan_.settings.port); }

  // ---- the head speaks

  void link_bytes(std::span<const char> bytes) override {
    last_heard_ = Clock::now();
    reader_.feed(bytes);
    const std::shared_ptr<Link> link = link_;
    while (link == link_ && machine_.state() != DialState::Over && machine_.state() != DialState::Resting) {
      Result<std::optional<ToHost>> next = reader_.next();
      if (!next) return link_closed(next.error());
      if (!next->has_value()) return;
      std::visit([this](const auto& m) { handle(m); }, **next);
    }
  }

  void link_closed(const Error& why) override {
    if (link_) link_->abandon();
    if (is_outside()) return fail(why);
    last_fault_ = why;
    tell(DialEvent::HeadLost);
  }

  void handle(const Welcome& m) {
    if (!is_outside()) return;
    const Settings& s = plan_.settings;
    const bool chosen = s.place == PlaceRule::ChosenByHead;
    if (const Result<void> checked = PlanCheck::check_place(m.place, s); !checked) return fail(checked.error());
    check_.emplace([this, place = m.place](const std::string& job_id,
                                           std::uint32_t attempt) { return plan_.reckon(place, job_id, attempt); },
                   plan_.attempts);
    say_("the head has answered: " + where() + " (" + peer_ + ")" +
         (chosen ? "; this is " + s.hosts[m.place] : std::string()));
    tell(DialEvent::Welcomed);
    watch_silence();
  }

  void handle(const Refused& m) {
    const Error why(ErrorKind::Auth, "the head turns this host away: " + show(m.text, kMaxShown));
    if (link_) link_->abandon();
    last_fault_ = why;
    tell(may_change(m, plan_.settings.attempt) ? DialEvent::Failed : DialEvent::Refused);
  }

  void handle(const Begin& m) {
    if (machine_.state() != DialState::Serving || mark_) return;
    if (const Result<void> checked = check_->take_mark(m.mark); !checked) return distrust(checked.error());
    mark_ = m.mark;
    if (ready_) start_agent();
  }

  void handle(const Bytes& m) {
    if (distrust_ || !check_) return;
    Result<std::string> allowed = check_->pass(m.bytes);
    if (!allowed) return distrust(allowed.error());
    if (agent_) agent_->send(std::move(*allowed));
  }

  // Whoever it is, the head of our job it is not; or somebody has started this host otherwise than the head, which is
  // told so.
  void distrust(const Error& why) {
    distrust_ = why;
    link_->send(encode(ToHead(AgentEnded{why.message().substr(0, kMaxPiece)})));
    link_->finish();
    tell(DialEvent::HeadLost);
  }

  void handle(const EndInput&) {
    if (agent_) agent_->finish();
  }

  void handle(const Alive&) {}

  void handle(const JobEnd& m) {
    if (machine_.state() != DialState::Serving) return;
    outcome_ = {m.exit_code, show(m.text, kMaxShown), m.failure, unprepared_};
    judged_ = true;
    tell(DialEvent::VerdictCame);
  }

  void watch_silence() {
    silence_timer_.expires_at(last_heard_ + plan_.heartbeat_timeout);
    silence_timer_.async_wait([this](boost::system::error_code error) {
      if (error || machine_.state() != DialState::Serving) return;
      if (Clock::now() < last_heard_ + plan_.heartbeat_timeout) return watch_silence();
      link_closed(Error(ErrorKind::Lost, "nothing heard for " + format_duration(plan_.heartbeat_timeout)));
    });
  }

  // ---- our agent

  void transport_step(std::string_view) override {}
  void transport_is_local() override {}
  void transport_open(std::string_view, std::string_view) override {}
  void transport_bytes(std::span<const char> bytes) override {
    traces_->feed(bytes);
    send_in_pieces<ToHead>(std::string_view(bytes.data(), bytes.size()),
                           [this](std::string frame) { link_->send(std::move(frame)); });
  }
  void transport_closed(const Error& why) override {
    agent_over_ = true;
    link_->send(encode(ToHead(AgentEnded{why.message().substr(0, kMaxPiece)})));
    tell(DialEvent::AgentEnded);
  }

  // ---- what the machine asks for

  void tell(DialEvent event) {
    const DialAction action = machine_.on(event, Clock::now());
    arm_deadline();
    switch (action) {
      case DialAction::None:
      case DialAction::Rest: return;
      case DialAction::Call: return call();
      case DialAction::GiveUp: return give_up();
      case DialAction::EndAgent: return end_agent();
      case DialAction::Leave: return leave();
    }
  }

  void give_up() {
    const std::string why = last_fault_.message().empty() ? "it does not answer" : last_fault_.message();
    const bool refused = last_fault_.kind() == ErrorKind::Auth;
    outcome_.fault =
        Error(refused ? ErrorKind::Auth : ErrorKind::Timeout,
              (refused ? "cannot join the job at " + where()
                       : "the head, " + where() + ", was not there after " + format_duration(plan_.patience)) +
                  ": " + why)
            .with_hint(refused ? "start every host with the same secret, program and options"
                               : "--start-timeout waits longer");
    if (unprepared_) outcome_.fault = unprepared_;
    outcome_.exit_code = exit_code_of(outcome_.fault->kind());
    loop_->stop();
  }

  void end_agent() {
    if (!agent_ || agent_over_) {
      asio::post(*loop_, [this] { tell(DialEvent::AgentEnded); });
      return;
    }
    if (machine_.state() == DialState::Deserted && !distrust_) say_("the head has gone: " + last_fault_.message());
    agent_->finish();
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

  void arm_deadline() {
    if (!machine_.deadline()) {
      deadline_timer_.cancel();
      return;
    }
    deadline_timer_.expires_at(*machine_.deadline());
    deadline_timer_.async_wait([this](boost::system::error_code error) {
      // A time that came together with the news which took it back comes here all the same.
      if (!error && machine_.deadline() && *machine_.deadline() <= Clock::now()) tell(DialEvent::Deadline);
    });
  }

  void await_signals() {
    signals_.async_wait([this](boost::system::error_code error, int signo) {
      if (error) return;
      on_signal(signo);
      await_signals();
    });
  }

  // The head knows what a second one means.
  void on_signal(int signo) {
    if (machine_.state() == DialState::Serving) {
      say_("asking the head to stop the job (" + signal_name(signo) + ")");
      return link_->send(encode(ToHead(StopAsked{static_cast<std::uint8_t>(signo)})));
    }
    if (machine_.state() == DialState::Leaving || machine_.state() == DialState::Deserted) return;
    outcome_ = {128 + signo, "stopped by " + signal_name(signo) + " before the head had answered", "", std::nullopt};
    loop_->stop();
  }

  const DialPlan& plan_;
  const launch::AgentImage& image_;
  const std::function<void(const std::string&)>& say_;
  std::shared_ptr<asio::io_context> loop_ = std::make_shared<asio::io_context>(1);
  std::unique_ptr<asio::thread_pool> pool_ = std::make_unique<asio::thread_pool>(1);
  std::shared_ptr<net::CancelToken> cancel_ = std::make_shared<net::CancelToken>();
  std::unique_ptr<Credentials> credentials_;
  std::optional<PlanCheck> check_;  // once the head has welcomed us
  std::optional<Error> distrust_;   // what the head wanted that was not ours
  DialMachine machine_;
  asio::steady_timer deadline_timer_;
  asio::steady_timer silence_timer_;
  asio::steady_timer waiting_timer_;
  asio::signal_set signals_;
  std::shared_ptr<Link> link_;
  FrameReader<ToHost> reader_;
  std::string peer_;
  std::optional<launch::Preparation> preparation_;
  bool ready_ = true;                // with the chore
  std::optional<Error> unprepared_;  // how it failed, or why there is no plan
  std::optional<std::string> mark_;  // by which the agent is to open; empty: the head has not asked for it
  std::unique_ptr<launch::AgentTransport> agent_;
  std::optional<AgentTraces> traces_;  // from when there is an agent
  TimePoint last_heard_ = Clock::now();
  Error last_fault_;
  Outcome outcome_;
  bool agent_over_ = false;
  bool judged_ = false;
};

}  // namespace

Outcome dial(const DialPlan& plan, const launch::AgentImage& image,
             const std::function<void(const std::string& text)>& say) {
  ::signal(SIGPIPE, SIG_IGN);
  Result<std::unique_ptr<Credentials>> credentials = make_credentials(Side::Host, plan.settings.key);
  if (!credentials) return {exit_code_of(credentials.error().kind()), "", "", credentials.error()};
  return Dialler(plan, image, say, std::move(*credentials)).run();
}

}  // namespace sml::dialin
