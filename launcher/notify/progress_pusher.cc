#include "launcher/notify/progress_pusher.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/fd.h"
#include "common/os/trust.h"
#include "launcher/notify/deliver.h"
#include "launcher/notify/url.h"

namespace sml::notify {

namespace {

Error about(const std::string& path, const std::string& what) { return {ErrorKind::Config, show(path) + " " + what}; }

// Not more than a token can have; not from a pipe, which might never end.
Result<std::string> read_token(const std::string& path) {
  if (Result<void> own = os::check_trust(path); !own) return own.error();
  const os::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return sys_error(ErrorKind::Io, "cannot read " + show(path), errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return about(path, "is no file");
  std::string text(kLongestBearer + 2, '\0');  // one more than fits, and a newline
  const ssize_t n = ::read(file.get(), text.data(), text.size());
  if (n < 0) return sys_error(ErrorKind::Io, "cannot read " + show(path), errno);
  text.resize(static_cast<std::size_t>(n));
  Result<std::string> token = bearer_in(text);
  if (!token) return about(path, token.error().message());
  return token;
}

}  // namespace

Result<void> push_status(const StatusServer& server, const std::string& body, Duration limit,
                         const std::shared_ptr<ReadAuthorities>& kept) {
  const Result<Url> url = Url::parse(server.url);
  if (!url) return url.error();
  if (url->scheme != Url::Scheme::Https) {
    return Error(ErrorKind::Config, "it is no https:// URL, and others could read the token");
  }
  if (!server.authorities.empty()) {
    if (Result<void> own = os::check_trust(server.authorities); !own) return own;
  }
  Result<std::string> token = read_token(server.token_file);
  if (!token) return token.error();
  return post(*url, {.body = body, .bearer = std::move(*token), .authorities = server.authorities, .kept = kept},
              limit);
}

ProgressPusher::ProgressPusher(const boost::asio::any_io_executor& loop, Deps job)
    : deps_(std::move(job)), timer_(loop), thread_(loop) {}

void ProgressPusher::begin() { arm(); }

void ProgressPusher::on_event(const report::Event& event) {
  if (const auto* again = std::get_if<report::AttemptBegins>(&event.what)) attempt_ = again->attempt;
  if (const auto* end = std::get_if<report::JobEnds>(&event.what)) {
    job_ = end->exit_code == 0 ? ProgressFacts::Job::Succeeded : ProgressFacts::Job::Failed;
  }
}

ProgressFacts ProgressPusher::facts() const {
  const TimePoint now = Clock::now();
  return {.job = job_,
          .attempt = attempt_,
          .goodput = deps_.goodput.sums(now).ratio(),
          .step = deps_.goodput.step(),
          .total = deps_.goodput.total(),
          .remaining = deps_.goodput.remaining(now)};
}

void ProgressPusher::arm() {
  const TimePoint now = Clock::now();
  TimePoint next = TimePoint::max();
  if (!deps_.server.url.empty()) next = server_pace_.next_look(now);
  if (deps_.lines == ProgressLines::Yes) next = std::min(next, line_pace_.next_look(now));
  timer_.expires_at(next);
  timer_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    look();
    arm();
  });
}

void ProgressPusher::look() {
  const TimePoint now = Clock::now();
  const std::optional<TimePoint> progress = deps_.goodput.last_progress();
  if (deps_.lines == ProgressLines::Yes && line_pace_.begins(progress, now)) {
    deps_.print(to_metric_line(facts()));
    static_cast<void>(line_pace_.ended(PushMachine::Outcome::Taken));
  }
  if (!deps_.server.url.empty() && server_pace_.begins(progress, now)) push();
}

// The thread may go on after this object has gone: it gets copies.
void ProgressPusher::push() {
  if (!thread_.start()) {
    if (server_pace_.ended(PushMachine::Outcome::Failed)) complain("the system gives no thread for it");
    return;
  }
  auto outcome = std::make_shared<Result<void>>();
  thread_.post([server = deps_.server, body = to_trainer_status(facts(), unix_now()), kept = authorities_,
                outcome] { *outcome = push_status(server, body, kDeliveryLimit, kept); },
               [this, outcome] {
                 using Outcome = PushMachine::Outcome;
                 if (server_pace_.ended(*outcome ? Outcome::Taken : Outcome::Failed))
                   complain(outcome->error().message());
               });
}

void ProgressPusher::complain(const std::string& why) {
  deps_.print("progress cannot be sent to Kubeflow's status server at " + show(deps_.server.url, 200) + ": " + why +
              "; the job goes on, and later failures of it are not reported");
}

void ProgressPusher::send_end() {
  timer_.cancel();
  const std::optional<TimePoint> progress = deps_.goodput.last_progress();
  if (deps_.lines == ProgressLines::Yes && line_pace_.tells_end(progress)) deps_.print(to_metric_line(facts()));
  if (deps_.server.url.empty() || !server_pace_.tells_end(progress) || !thread_.start()) return;
  end_ = std::make_shared<Result<void>>();
  end_due_ = Clock::now() + kLastTimeout;
  thread_.post([server = deps_.server, body = to_trainer_status(facts(), unix_now()), kept = authorities_,
                outcome = end_] { *outcome = push_status(server, body, kLastTimeout, kept); },
               [] {});
}

// The loop does not run any more, and reports nothing.
void ProgressPusher::finish() {
  if (!end_) return;
  const bool done = thread_.finish(std::max(end_due_ - Clock::now(), Duration::zero()));
  if (done && *end_) return;
  if (!server_pace_.ended(PushMachine::Outcome::Failed)) return;
  complain(done ? end_->error().message() : "does not take the last message in time");
}

}  // namespace sml::notify
