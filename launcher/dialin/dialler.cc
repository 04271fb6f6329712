#include "launcher/dialin/dialler.h"

#include <algorithm>
#include <csignal>
#include <memory>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include "common/core/exit_status.h"
#include "common/core/text.h"
#include "common/os/spawn.h"
#include "launcher/dialin/dial_machine.h"
#include "launcher/dialin/link.h"
#include "launcher/dialin/port.h"
#include "launcher/launch/process_transport.h"
#include "launcher/ssh/tcp_connect.h"

namespace sml::dialin {

namespace {

namespace asio = boost::asio;

constexpr Duration kConnectLimit = std::chrono::seconds(10);
constexpr Duration kTellWaiting = std::chrono::seconds(5);
constexpr std::size_t kMaxShown = 500;

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
    return std::move(outcome_);
  }

 private:
  // ---- what comes before the agent

  void prepare() {
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
    if (unprepared_) return link_->send(encode(ToHead(AgentEnded{unprepared_->message().substr(0, kMaxPiece)})));
    agent_ = launch::make_local_transport(loop_->get_executor(), image_, *mark_, plan_.environment);
    agent_->start(*this);
  }

  // ---- calling

  void call() {
    asio::post(*pool_, [this, loop = loop_, cancel = cancel_, head = plan_.settings.head, port = plan_.settings.port] {
      auto answer = std::make_shared<Result<os::UniqueFd>>(os::UniqueFd());
      if (const auto addresses = ssh::resolve(head, port, ssh::AddressFamily::Any); addresses) {
        *answer = ssh::connect_to(*addresses, kConnectLimit, *cancel);
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
    link_->send(
        encode(ToHead(Hello{kProtocolVersion, s.job, s.attempt, s.build, s.plan, s.own_index, s.hosts[s.own_index]})));
  }

  void fail(const Error& why) {
    if (link_) link_->abandon();
    last_fault_ = why;
    tell(why.kind() == ErrorKind::Auth ? DialEvent::Refused : DialEvent::Failed);
  }

  void tell_waiting() {
    waiting_timer_.expires_after(kTellWaiting);
    waiting_timer_.async_wait([this](boost::system::error_code error) {
      if (error || (machine_.state() != DialState::Calling && machine_.state() != DialState::Resting)) return;
      say_("waiting for the head, " + where() +
           (last_fault_.message().empty() ? std::string() : " (" + last_fault_.message() + ")"));
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
    if (machine_.state() == DialState::Calling) return fail(why);
    last_fault_ = why;
    tell(DialEvent::HeadLost);
  }

  void handle(const Welcome&) {
    say_("the head has answered: " + where() + " (" + peer_ + ")");
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
    mark_ = m.mark;
    if (ready_) start_agent();
  }

  void handle(const Bytes& m) {
    if (agent_) agent_->send(m.bytes);
  }

  void handle(const EndInput&) {
    if (agent_) agent_->finish();
  }

  void handle(const Alive&) {}

  void handle(const Verdict& m) {
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
    if (machine_.state() == DialState::Deserted) say_("the head has gone: " + last_fault_.message());
    agent_->finish();
  }

  void leave() {
    if (!judged_) {
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
      if (!error) tell(DialEvent::Deadline);
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
  std::shared_ptr<ssh::CancelToken> cancel_ = std::make_shared<ssh::CancelToken>();
  std::unique_ptr<Credentials> credentials_;
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
  std::optional<Error> unprepared_;  // how it failed
  std::optional<std::string> mark_;  // by which the agent is to open; empty: the head has not asked for it
  std::unique_ptr<launch::AgentTransport> agent_;
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
