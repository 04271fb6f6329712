#include "launcher/top/top.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/core/clock.h"
#include "common/core/exit_status.h"
#include "common/core/text.h"
#include "common/os/fd.h"
#include "launcher/control/messages.h"
#include "launcher/top/screen.h"
#include "launcher/top/terminal.h"

namespace sml::top {

namespace {

using control::Answer;
using control::Conversation;
using control::Request;
using control::Topic;

constexpr Duration kBetween = std::chrono::seconds(1);
constexpr int kFailed = 1;

// The signals by which a terminal's user or the system ends, stops or resizes a program, as events of the loop; so that
// the terminal is left as it was.
class Signals {
 public:
  Signals() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signo : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH}) ::sigaddset(&set, signo);
    ::sigprocmask(SIG_BLOCK, &set, &before_);
    fd_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~Signals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int fd() const { return fd_.get(); }
  int next() const {  // 0: none
    signalfd_siginfo info{};
    return ::read(fd_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
  }

 private:
  sigset_t before_{};
  os::UniqueFd fd_;
};

// The output of a rank, as lines; those of stderr are marked.
class RankLines {
 public:
  void add(const control::Output& output) { texts_[output.stream == Stream::Stdout ? 0 : 1] += output.bytes; }
  std::string text() const {
    std::string out;
    for (const std::size_t stream : {std::size_t{0}, std::size_t{1}}) {
      if (texts_[stream].empty()) continue;
      if (!out.empty() && !out.ends_with('\n')) out += '\n';
      if (stream == 1) out += "---- stderr ----\n";
      out += texts_[stream];
    }
    return out.empty() ? "it has printed nothing" : out;
  }

 private:
  std::array<std::string, 2> texts_;
};

class Top {
 public:
  Top(const control::JobSocket& job, Terminal& terminal) : job_(job), terminal_(terminal) {}

  // Until the user leaves.
  void run(const Signals& signals) {
    ask_status();
    for (;;) {
      const Terminal::Size size = terminal_.size();
      terminal_.draw(screen_.draw(size.columns, size.lines));
      wait(signals.fd());
      if (take_signals(signals) == Then::Leave || take_keys() == Then::Leave) return;
      read_status();
      read_answers();
      if (!status_ && !over_ && Clock::now() >= next_) ask_status();
    }
  }

 private:
  enum class Then : std::uint8_t { GoOn, Leave };

  Then take_signals(const Signals& signals) {
    while (const int signo = signals.next()) {
      if (signo != SIGTSTP && signo != SIGWINCH) return Then::Leave;
      if (signo == SIGTSTP) terminal_.suspend();
      if (signo == SIGWINCH) terminal_.follow_size();
    }
    return Then::GoOn;
  }

  Then take_keys() {
    while (const auto key = terminal_.key()) {
      const UserRequest request = screen_.on_key(key->first, key->second);
      if (std::holds_alternative<Leave>(request)) return Then::Leave;
      grant(request);
    }
    return Then::GoOn;
  }

  struct Talk {
    Conversation conversation;
    Topic topic;
    std::string title{};
    RankLines lines{};
  };

  void wait(int signals) {
    std::vector<pollfd> ready{{STDIN_FILENO, POLLIN, 0}, {signals, POLLIN, 0}};
    if (status_) ready.push_back({status_->fd(), POLLIN, 0});
    if (other_) ready.push_back({other_->conversation.fd(), POLLIN, 0});
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next_ - Clock::now()).count();
    ::poll(ready.data(), ready.size(), status_ || over_ ? -1 : static_cast<int>(std::max<std::int64_t>(left, 0)) + 1);
  }

  void end(std::string_view how) {
    over_ = true;
    screen_.job_has_ended(how);
  }

  void ask_status() {
    next_ = Clock::now() + kBetween;
    Result<Conversation> asked = Conversation::begin(job_, {.topic = Topic::Status, .form = control::Form::Json});
    if (!asked) return end(asked.error().kind() == ErrorKind::Lost ? "the job has ended" : asked.error().message());
    status_.emplace(std::move(*asked));
  }

  void read_status() {
    if (!status_) return;
    std::optional<Result<std::optional<Answer>>> answer = status_->take();
    if (!answer) return;
    status_.reset();
    if (!*answer) return end(answer->error().message());
    if (!**answer) return;  // the job is ending; who asks next sees it
    const auto* text = std::get_if<control::Text>(&***answer);
    if (text == nullptr) return screen_.print("the job answers something else");
    Result<Snapshot> job = read_snapshot(text->text);
    if (!job) return screen_.print(job.error().message());
    if (!job_.is_ours()) job->id = job_.job() + " of user " + std::to_string(job_.owner);
    const TimePoint now = Clock::now();
    screen_.take(std::move(*job), now - last_);
    last_ = now;
  }

  void begin(Topic topic, std::string title, Request request) {
    request.topic = topic;
    Result<Conversation> asked = Conversation::begin(job_, request);
    if (!asked) return screen_.print(asked.error().message());
    other_.emplace(Talk{std::move(*asked), topic, std::move(title)});
  }

  void grant(const UserRequest& request) {
    if (std::holds_alternative<std::monostate>(request)) return;
    if (over_) return screen_.print("the job has ended");
    if (const auto* logs = std::get_if<ShowLogs>(&request)) {
      const std::string rank = std::to_string(logs->rank);
      begin(Topic::Logs, "Last lines of rank " + rank, {.ranks = rank});
    } else if (std::holds_alternative<ShowStacks>(request)) {
      screen_.print("the workers are asked where they are");
      begin(Topic::Stacks, "Where the workers are", {});
    } else if (std::holds_alternative<StopJob>(request)) {
      screen_.print("the job is stopped");
      begin(Topic::Stop, "", {});
    } else if (const auto* signal = std::get_if<SendSignal>(&request)) {
      begin(Topic::Signal, "", {.signo = signal->signo, .ranks = signal->ranks});
    }
  }

  void read_answers() {
    while (other_) {
      std::optional<Result<std::optional<Answer>>> answer = other_->conversation.take();
      if (!answer) return;
      if (!*answer || !**answer) {
        other_.reset();
        return;
      }
      if (handle(***answer)) other_.reset();
    }
  }

  // Whether this was the last answer.
  bool handle(const Answer& answer) {
    if (const auto* output = std::get_if<control::Output>(&answer)) {
      other_->lines.add(*output);
      return false;
    }
    if (const auto* refused = std::get_if<control::Refused>(&answer)) {
      screen_.print(refused->why);
    } else if (const auto* text = std::get_if<control::Text>(&answer)) {
      if (other_->topic == Topic::Stacks) {
        screen_.show_text(other_->title, text->text);
      } else {
        screen_.print(text->text);
      }
    } else if (const auto* ended = std::get_if<control::Ended>(&answer)) {
      end("the job has ended with status " + std::to_string(ended->exit_code) + ": " + ended->verdict);
    } else if (std::holds_alternative<control::Done>(answer)) {
      screen_.show_text(other_->title, other_->lines.text());
    } else {
      return false;
    }
    return true;
  }

  const control::JobSocket& job_;
  Terminal& terminal_;
  Screen screen_;
  std::optional<Conversation> status_;
  std::optional<Talk> other_;
  TimePoint next_{};
  TimePoint last_{};
  bool over_ = false;
};

}  // namespace

int show(const control::JobSocket& job, const std::function<void(const std::string&)>& print) {
  const Signals signals;  // outlives the terminal
  Result<Terminal> terminal = Terminal::open();
  if (!terminal) {
    print("top: " + terminal.error().message());
    if (!terminal.error().hint().empty()) print("hint: " + terminal.error().hint());
    return kFailed;
  }
  Top(job, *terminal).run(signals);
  return 0;
}

}  // namespace sml::top
