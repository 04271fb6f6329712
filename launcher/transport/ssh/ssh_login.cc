#include "launcher/transport/ssh/ssh_login.h"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include <poll.h>

#include "common/core/text.h"
#include "launcher/transport/locality.h"
#include "launcher/transport/names/addresses.h"
#include "launcher/transport/net/tcp_connect.h"
#include "launcher/transport/ssh/host_keys/host_key_check.h"
#include "launcher/transport/ssh/host_keys/known_hosts.h"
#include "launcher/transport/ssh/local_identity.h"
#include "launcher/transport/ssh/login_settings.h"
#include "launcher/transport/ssh/match_exec.h"
#include "launcher/transport/ssh/ssh_auth.h"
#include "launcher/transport/ssh/ssh_error.h"

namespace sml::ssh {
namespace {

constexpr int kAttempts = 6;  // while the host drops connections before the login (MaxStartups)
constexpr int kLogins = 3;    // while connections break later
// From its banner to the command an ssh server sends some kilobytes. libssh 0.10 buffers all bytes that arrive
// meanwhile.
constexpr std::uint64_t kMostBeforeCommand = 4 << 20;
constexpr auto kSlack = std::chrono::seconds(1);
constexpr auto kLatePause = std::chrono::seconds(1);  // before a late host is looked for again
constexpr int kSlowResolver = 4;                      // times the limit of a connection
constexpr auto kFirstPause = std::chrono::milliseconds(100);

class Login {
 public:
  Login(LoginSettings settings, const std::string& command, net::CancelToken& cancel, const StepReport& report)
      : settings_(std::move(settings)), command_(command), cancel_(cancel), report_(report) {}

  LoginOutcome run() {
    while (true) {
      LoginOutcome outcome = try_once();
      const auto* error = std::get_if<Error>(&outcome);
      const bool late = error != nullptr && settings_.absent_hosts == AbsentHosts::AreAwaited && may_come(*error);
      if (!late) return outcome;
      report_(
          error->kind() == ErrorKind::Resolve ? "its name does not resolve yet" : "its SSH server does not answer yet",
          settings_.connect_timeout * kSlowResolver + kLatePause);
      if (net::wait_for(-1, 0, Clock::now() + kLatePause, cancel_) == net::Waited::Cancelled) return outcome;
    }
  }

 private:
  // A host that is not up yet has no name, no address that answers, or no server. One that has answered is up.
  bool may_come(const Error& error) const {
    const bool silent = error.kind() == ErrorKind::Connect || error.kind() == ErrorKind::Timeout;
    return error.kind() == ErrorKind::Resolve || (silent && !reached_);
  }

  LoginOutcome try_once() {
    if (settings_.proxy.empty()) {
      if (settings_.local == LocalShortcut::WhenThisMachine && transport::is_own_name(settings_.host))
        return IsThisMachine{};
      auto addresses = names::addresses_of(settings_.host, settings_.port, settings_.family);
      if (!addresses) return unresolved(std::move(addresses).error());
      addresses_ = std::move(*addresses);
      if (settings_.local == LocalShortcut::WhenThisMachine && any_own_address()) return IsThisMachine{};
    }
    if (auto prepared = prepare_host_keys(); !prepared) return std::move(prepared).error();
    for (int login = 1;; ++login) {
      report_("connecting", settings_.connect_timeout * static_cast<int>(addresses_.size() * kAttempts + 1));
      if (auto connected = connect_with_retries(); !connected) return std::move(connected).error();
      auto in = log_in();
      if (in) break;
      if (login == kLogins || !has_broken(in.error()) || !pause(kFirstPause * login)) return std::move(in).error();
    }
    if (settings_.proxy.empty()) {
      result_.local_address = net::local_address(result_.socket.get());
      result_.peer_address = net::peer_address(result_.socket.get());
    }
    return std::move(result_);
  }

  bool any_own_address() const {
    return std::any_of(addresses_.begin(), addresses_.end(),
                       [](const names::Address& a) { return transport::is_own_address(a.any()); });
  }

  // Names the resolved name if HostName of the ssh config replaces the user's.
  Error unresolved(Error error) const {
    if (settings_.unread_keyword == "CanonicalizeHostname") {
      error =
          Error(error.kind(), error.message() + not_read(settings_.unread_keyword)).with_hint(std::string(kUseClient));
    }
    if (settings_.host == settings_.name) return error;
    return std::move(error).in("HostName " + show(settings_.host) + " of the ssh config");
  }

  Result<void> prepare_host_keys() {
    known_.clear();
    const auto add = [&](Result<std::vector<KnownKey>> keys) -> Result<void> {
      if (!keys) return std::move(keys).error();
      std::move(keys->begin(), keys->end(), std::back_inserter(known_));
      return {};
    };
    if (auto added = add(known_keys(settings_.known_hosts, settings_.key_name)); !added) return added;
    if (auto added = add(known_keys(settings_.global_known_hosts, settings_.key_name)); !added) return added;
    if (const std::string& file = settings_.revoked_host_keys; !file.empty()) {
      if (auto added = add(revoked_keys(file)); !added) return added;
    }
    auto& algorithms = settings_.session.host_key_algorithms;
    if (settings_.host_key_order == HostKeyOrder::KnownFirst) algorithms = known_first(algorithms, known_);
    return {};
  }

  // ---- phase: connection and key exchange, repeated while the host drops connections

  Result<void> connect_with_retries() {
    start_phase();
    Duration pause = kFirstPause;
    std::optional<Error> drop;  // more informative than the timeout of the attempt after it
    for (int attempt = 1;; ++attempt) {
      dropped_ = false;
      auto connected = connect_once();
      if (connected) return connected;
      if (!dropped_) return drop && connected.error().kind() == ErrorKind::Timeout ? overloaded(*drop) : connected;
      drop = std::move(connected).error();
      const TimePoint next = std::min(deadline_, Clock::now() + jittered(pause));
      const bool last = attempt == kAttempts || next == deadline_;
      if (last || net::wait_for(-1, 0, next, cancel_) == net::Waited::Cancelled) return overloaded(*drop);
      pause *= 2;
    }
  }

  static Error overloaded(const Error& error) {
    return Error(error.kind(), error.message())
        .with_hint(
            "is it an ssh server that answers on this port (--ssh-port)? One with too many logins at once does this "
            "too "
            "(MaxStartups in its sshd_config)");
  }

  static Duration jittered(Duration pause) {
    std::uniform_int_distribution<Duration::rep> spread(pause.count() / 2, pause.count() * 3 / 2);
    std::random_device entropy;
    return Duration(spread(entropy));
  }

  Result<void> connect_once() {
    result_ = LoggedIn{};
    auto socket =
        settings_.proxy.empty() ? net::connect_to(addresses_, settings_.connect_timeout, cancel_) : start_proxy();
    if (!socket) return std::move(socket).error();
    net::leave_silence_to_user(socket->get(), settings_.silence_limit);
    reached_ = settings_.proxy.empty();
    start_phase_unless_retrying();
    result_.socket = std::move(*socket);
    auto session = SshSession::make(settings_.session, result_.socket.get());
    if (!session) return std::move(session).error();
    result_.session = std::move(*session);
    return drive([this] { return result_.session.key_exchange(); }, LoginStage::KeyExchange);
  }

  Result<os::UniqueFd> start_proxy() {
    auto started = ProxyCommand::start(settings_.proxy);
    if (!started) return std::move(started).error();
    result_.proxy = std::move(started->process);
    return std::move(started->socket);
  }

  // ---- phase: login

  // Whether the connection broke although the host has not refused anything.
  bool has_broken(const Error& why) const {
    return why.kind() == ErrorKind::Connect && is_dropped_connection(result_.session.last_error());
  }

  bool pause(Duration time) {
    return net::wait_for(-1, 0, Clock::now() + jittered(time), cancel_) != net::Waited::Cancelled;
  }

  Result<void> log_in() {
    if (auto accepted = check_host_key(result_.session.host_key(), known_, settings_); !accepted) return accepted;
    report_("authenticating", settings_.connect_timeout + kSlack);
    start_phase();
    if (auto in = authenticate(result_.session, settings_, deadline_, cancel_, [this] { return wait(); }); !in)
      return in;
    report_("starting the agent", settings_.connect_timeout * 2 + kSlack);
    start_phase();
    auto opened = drive([this] { return result_.session.open_channel(); }, LoginStage::Channel);
    if (!opened) return opened;
    return drive([this] { return result_.session.execute(command_); }, LoginStage::Command);
  }

  // ---- stepping

  void start_phase() { deadline_ = Clock::now() + settings_.connect_timeout; }
  void start_phase_unless_retrying() {
    if (std::exchange(first_connection_, false)) start_phase();
  }

  net::Waited wait() {
    const int fd = result_.socket.get();
    if (result_.proxy) result_.proxy.take_errors();
    net::arm_quick_ack(fd);
    if (net::bytes_received(fd) > kMostBeforeCommand) return net::Waited::Flooded;
    return net::wait_for(fd, static_cast<short>(POLLIN | (result_.session.wants_write() ? POLLOUT : 0)), deadline_,
                         cancel_);
  }

  template <class Call>
  Result<void> drive(const Call& call, LoginStage stage) {
    Step step = call();
    for (; step == Step::Again; step = call()) {
      const net::Waited waited = wait();
      if (waited == net::Waited::Cancelled) return Error(ErrorKind::Internal, "cancelled");
      if (waited == net::Waited::TimedOut) return too_slow(stage);
      if (waited == net::Waited::Flooded) return flooded();
    }
    if (step == Step::Done) return {};
    return failure(stage);
  }

  Error too_slow(LoginStage stage) const {
    const std::string limit = format_duration(settings_.connect_timeout);
    const bool silent = stage == LoginStage::KeyExchange;
    return Error(ErrorKind::Timeout, silent ? "connected, but its ssh server sent no keys within " + limit
                                            : "logged in, but got no session within " + limit)
        .with_hint("is the host overloaded? --connect-timeout waits longer");
  }

  Error failure(LoginStage stage) {
    const std::string text = result_.session.last_error();
    dropped_ = stage == LoginStage::KeyExchange && is_dropped_connection(text);
    if (!result_.proxy) return explain(stage, text);
    const auto status = result_.proxy.wait_briefly();
    const std::string errors = result_.proxy.errors();
    if (!status) return explain(stage, text);
    if (*status == 126 || *status == 127) dropped_ = false;  // a retry will not help
    return Error(ErrorKind::Connect, "the proxy program ended with status " + std::to_string(*status) +
                                         (errors.empty() ? "" : ": " + show(errors)));
  }

  LoginSettings settings_;
  const std::string& command_;
  net::CancelToken& cancel_;
  const StepReport& report_;
  std::vector<names::Address> addresses_;
  std::vector<KnownKey> known_;
  TimePoint deadline_;
  bool first_connection_ = true;
  bool reached_ = false;  // something has answered on the port
  bool dropped_ = false;  // the last attempt failed in a way that may succeed next time
  LoggedIn result_;
};

}  // namespace

LoginOutcome log_in(const SshOptions& options, const SshTarget& target, net::CancelToken& cancel,
                    const StepReport& report) {
  const Duration limit = options.connect_timeout.value_or(kConnectTimeout);
  report("reading the ssh config", limit + kSlack);
  const LocalIdentity self = local_identity();
  ConfigFiles files = local_files();
  files.run = [&](const std::string& line) {
    const std::string shell = self.environment("SHELL");
    const TimePoint deadline = Clock::now() + limit;
    return command_holds(shell.empty() ? "/bin/sh" : shell, line, deadline, cancel);
  };
  auto settings = settle(options, target, self, files);
  if (!settings) return std::move(settings).error();
  report("resolving", limit);
  return Login(std::move(*settings), target.remote_command, cancel, report).run();
}

}  // namespace sml::ssh
