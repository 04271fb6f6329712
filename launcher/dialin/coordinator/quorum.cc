#include "launcher/dialin/coordinator/quorum.h"

#include <csignal>
#include <utility>

#include "common/core/exit_status.h"
#include "common/core/text.h"
#include "launcher/os/heeded_stops.h"

namespace sml::dialin {

Quorum::Quorum(boost::asio::io_context& loop, Settings settings, Duration timeout, Latecomers latecomers,
               std::function<void(const std::string& text)> print)
    : loop_(loop),
      settings_(std::move(settings)),
      timeout_(timeout),
      latecomers_(latecomers),
      print_(std::move(print)),
      threads_(1),
      timer_(loop),
      signals_(loop),
      last_call_(settings_.least_hosts.value_or(1), static_cast<std::uint32_t>(settings_.hosts.size()), timeout,
                 settings_.last_call, Clock::now()) {}

Quorum::~Quorum() { threads_.abandon(); }

Result<std::uint32_t> Quorum::run(CoordinatorPlan plan) {
  ::signal(SIGPIPE, SIG_IGN);
  Result<std::unique_ptr<Coordinator>> head = make_coordinator(
      loop_.get_executor(), threads_.pool(1), std::move(plan),
      {.print = print_,
       .come = [this] { look_for_refused(); },
       .stop_asked = [this](const std::string& host,
                            int signo) { stop(host + " has been asked to stop (" + signal_name(signo) + ")", signo); },
       .gathered = [this](std::uint32_t hosts) { counted(hosts); }});
  if (!head) {
    exit_code_ = exit_code_of(head.error().kind());
    return head.error();
  }
  head_ = std::move(*head);
  head_->begin();
  for (const int signo : os::heeded_stops()) signals_.add(signo);
  signals_.async_wait([this](boost::system::error_code error, int signo) {
    if (!error) stop("stopped by " + signal_name(signo) + " before the job had begun", signo);
  });
  counted(1);
  loop_.run();
  loop_.restart();
  timer_.cancel();
  signals_.cancel();
  loop_.poll();  // runs what is queued already, so that a stop counts, and the job's use of the loop gets none of it
  loop_.restart();
  if (failure_) send_end({static_cast<std::uint8_t>(exit_code_), failure_->message(), {}});
  signals_.clear();  // only after the hosts have been sent the end: the same stop may come twice
  if (failure_) return *failure_;
  return last_call_.hosts();
}

void Quorum::give_up(const Error& why) {
  exit_code_ = exit_code_of(why.kind());
  send_end({static_cast<std::uint8_t>(exit_code_), why.message(), {}});
}

void Quorum::counted(std::uint32_t hosts) {
  if (last_call_.count(hosts, Clock::now()) == JoinGracePeriod::Enough::JustNow && hosts < settings_.hosts.size()) {
    print_(sml::pluralize(hosts, "host") + (hosts == 1 ? " is" : " are") + " here, which will do; " +
           std::to_string(settings_.hosts.size() - hosts) + " more may come for " +
           format_duration(settings_.last_call) + " (--last-call)");
  }
  look();
}

void Quorum::look() {
  if (!head_ || failure_ || has_begun_) return;
  const JoinGracePeriod::Answer answer = last_call_.at(Clock::now());
  if (answer == JoinGracePeriod::Answer::Wait) return await_time();
  if (answer == JoinGracePeriod::Answer::Begin) {
    has_begun_ = true;
    head_->set_hosts(last_call_.hosts(), latecomers_);
    return loop_.stop();
  }
  fail(too_few(), exit_code_of(ErrorKind::Timeout));
}

Error Quorum::too_few() const {
  const std::string limit = format_duration(timeout_);
  if (!settings_.needs_all()) {
    return Error(ErrorKind::Timeout, "after " + limit + " there are " + sml::pluralize(last_call_.hosts(), "host") +
                                         ", fewer than the " + std::to_string(*settings_.least_hosts) +
                                         " that the job needs")
        .with_hint("--start-timeout waits longer");
  }
  std::vector<std::string> names;
  for (const transport::AgentLauncher::Missing& missing : head_->missing())
    names.push_back(settings_.hosts[missing.host.value()]);
  return Error(ErrorKind::Timeout, fold_names(names) + ": not ready after " + limit +
                                       (names.size() == 1 ? " (it has not called)" : " (they have not called)"))
      .with_hint("--start-timeout waits longer");
}

// Without them the job cannot begin.
void Quorum::look_for_refused() {
  for (const transport::AgentLauncher::Missing& missing : head_->missing()) {
    if (!missing.why_not) continue;
    fail(Error(*missing.why_not).in(settings_.hosts[missing.host.value()]), exit_code_of(missing.why_not->kind()));
  }
}

void Quorum::stop(const std::string& why, int signo) { fail(Error(ErrorKind::Lost, why), 128 + signo); }

void Quorum::fail(Error why, int exit_code) {
  if (failure_) return;
  failure_ = std::move(why);
  exit_code_ = exit_code;
  loop_.stop();
}

void Quorum::await_time() {
  timer_.expires_at(last_call_.deadline());
  timer_.async_wait([this](boost::system::error_code error) {
    if (!error) look();
  });
}

void Quorum::send_end(const JobEnd& end) {
  head_->end(end, [this] { loop_.stop(); });
  loop_.run();
  loop_.restart();
}

}  // namespace sml::dialin
